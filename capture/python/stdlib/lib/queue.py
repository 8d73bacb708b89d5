from collections import deque
import heapq


class Empty(Exception): pass
class Full(Exception): pass


class Queue:
    def __init__(self, maxsize=0): self.maxsize, self.queue, self.unfinished_tasks = maxsize, self._new(), 0
    def _new(self): return deque()
    def _put(self, x): self.queue.append(x)
    def _get(self): return self.queue.popleft()
    def put(self, x, block=True, timeout=None):
        if 0 < self.maxsize <= len(self.queue):
            raise Full
        self._put(x)
        self.unfinished_tasks += 1

    def get(self, block=True, timeout=None):
        if not self.queue:
            raise Empty
        return self._get()

    def put_nowait(self, x): return self.put(x, block=False)
    def get_nowait(self): return self.get(block=False)
    def empty(self): return not self.queue
    def full(self): return 0 < self.maxsize <= len(self.queue)
    def qsize(self): return len(self.queue)

    def task_done(self):
        if self.unfinished_tasks <= 0:
            raise ValueError('task_done() called too many times')
        self.unfinished_tasks -= 1

    def join(self): pass


class LifoQueue(Queue):
    def _get(self): return self.queue.pop()


class PriorityQueue(Queue):
    def _new(self): return []
    def _put(self, x): heapq.heappush(self.queue, x)
    def _get(self): return heapq.heappop(self.queue)


SimpleQueue = Queue
