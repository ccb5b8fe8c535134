"""Returns two million numbers, and a list that holds itself six levels deep.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    deep = [0.0] * 1000
    for _ in range(6):
        deep = [deep] * 1000
    round_and_round = []
    round_and_round.append(round_and_round)
    return deep, [0.0] * 2_000_000, round_and_round
