// Sends Python a signal when its time is up, as an operating system's timer does: Pyodide looks into its interrupt
// buffer every few instructions, and finds there what this says.

const SIGALRM = 14;
const AGAIN = 50; // ms between signals, once time is up: enough to get out of what was interrupted

/** For `pyodide.setInterruptBuffer`; its `alarm` for `engine.keep_time`. */
export function clock() {
  let due = Infinity;
  return {
    get 0() {
      const now = performance.now();
      if (now < due) return 0;
      due = now + AGAIN;
      return SIGALRM;
    },
    set 0(seen) {},
    alarm(seconds) {
      due = seconds > 0 ? performance.now() + 1000 * seconds : Infinity;
    },
  };
}
