class A:
    def g(self, k):
        return self.h(k)["a"]
    def h(self, k):
        return {"b": k}
def run(a):
    total = (a.g(1)
             + a.g(2))
    return total
run(A())
