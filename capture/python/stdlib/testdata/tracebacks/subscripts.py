x = {"a": [1, 2, {"b": None}]}
print(x["a"][2]["b"]["c"])
