# %% [markdown]
# # Syncline in a notebook
#
# Open this file as a notebook: in VS Code as it is, in Jupyter with `jupytext --to notebook example.py`. As a script,
# `python3 example.py` prints the numbers. It needs the program and the module `syncline`, nothing else.

# %%
import syncline

# %% [markdown]
# ## One exchange
#
# A ring all-reduce of N ranks sends 2(N-1)/N of the buffer over each rank's port. At 25 Gb/s, 3.125 GB/s, an all-reduce
# of 100 MB of 8 ranks therefore takes at least 56 ms.

# %%
exchange = syncline.collective(platform="p100-25g", ranks=8, algorithm="ring", bytes="100 MB")
print(f"ring, 8 ranks, 100 MB: {exchange['completion_time_s'] * 1e3:.1f} ms in {exchange['messages']} messages")

# %% [markdown]
# ## Variants of a scenario
#
# The scenario is ResNet-50 and AlexNet on 32 GPUs. `ranks` changes a key of all variants, and so does any other one with two
# underscores for a dot. A cell whose last value is the result shows its tables. With pandas, `result.to_pandas()` is a DataFrame.

# %%
result = syncline.run("zhang-2021", ranks=8, platform__fabric__bandwidth="25 Gbps")
for row in result.rows:
    exposed = row["exposed_communication_time_s"] / row["iteration_time_s"]
    print(f"{row['variant']}: {row['iteration_time_s'] * 1e3:.1f} ms, {exposed:.1%} of it exposed communication")

# %%
result

# %% [markdown]
# ## A plan
#
# The fastest ways to train a model, in how many days, for how much. Without `estimate=True` the best ones are simulated.

# %%
plans = syncline.plan("gpt-2-xl", platform="dgx-h100", ranks=[2, 4], batch=64, tokens="10B", price=24, estimate=True)
for row in plans.rows:
    if row["place"] == 1:
        print(f"{row['ranks']} ranks: {row['plan']}, {row['run_time_s'] / 86400:.2f} days, {row['run_cost']:.0f}")

# %% [markdown]
# ## A sweep
#
# Every combination of the axes is simulated, in parallel.

# %%
store = syncline.sweep("zhang-2021", {"variant": ["ring", "parameter-server"], "training.ranks": [1, 2, 4, 8]})
for row in store.rows(columns="variant, ranks, throughput"):
    print(f"{row['variant']}, ranks: {row['ranks']}, throughput: {row['throughput_samples_per_s']:.0f} images/s")

# %%
store.plot("ranks", "throughput", series="variant")  # the last value of a cell is shown

# %% [markdown]
# ## Explaining a result
#
# Each what-if simulates once more with one resource twice as good. Rows of resources that this
# cluster does not have, such as links within its nodes, have a `problem` in place of a result.

# %%
explanation = syncline.explain("zhang-2021", ranks=8, variant="alexnet-ring").rows[0]
for change in explanation["what_if"]:
    if change["problem"] is None:
        print(f"{change['change']}: {change['speed_up']:.2f} times the throughput ({change['text']})")

# %% [markdown]
# ## Errors
#
# An error is an exception with the program's message.

# %%
try:
    syncline.run("zhang-2021", set={"training.rank": 8})
except syncline.Error as error:
    print(f"exit code {error.code}: {error}")
