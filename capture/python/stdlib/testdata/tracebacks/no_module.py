import collections.nope
