"""Returns a tensor that a thread keeps changing.

lesson: 06-causal-mask
expect: decoder_mask FAIL or TIMEOUT
because: the thread takes the time that the calls need
limits: short
"""

# %% decoder_mask
import threading


def decoder_mask(lengths, n):
    answer = torch.zeros(len(lengths), 1, n, n, dtype=torch.bool)

    def change():
        while True:
            answer.logical_not_()

    threading.Thread(target=change).start()
    return answer
