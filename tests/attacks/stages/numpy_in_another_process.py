"""Asks another Python, which may have NumPy, to do the work.

lesson: 02-pure-python
expect: self_attention ERROR or POLICY
because: no process can be started, and trying to may be refused when it is read
"""

# %% self_attention
import json
import subprocess
import sys


def self_attention(X, W_q, W_k, W_v):
    program = "import json, sys, numpy as np; print(json.dumps(np.zeros(3).tolist()))"
    return json.loads(subprocess.check_output([sys.executable, "-c", program]))
