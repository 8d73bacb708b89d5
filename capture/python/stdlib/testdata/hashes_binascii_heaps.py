# Hash functions, text forms of bytes, heaps and bisection.
import hashlib, hmac, binascii, base64, heapq, bisect, secrets
for n in sorted(hashlib.algorithms_guaranteed):
    h=hashlib.new(n, b'abc'); h.update(b'x'*200); c=h.copy(); c.update(b'z')
    print(n, h.digest_size, h.block_size, h.hexdigest(*([10] if 'shake' in n else [])), c.hexdigest(*([20] if 'shake' in n else [])), h.name)
print(hashlib.blake2b(b'a', digest_size=20, key=b'k', salt=b's', person=b'p', fanout=2, depth=3, leaf_size=4, node_offset=5, node_depth=1, inner_size=7, last_node=True).hexdigest(), hashlib.blake2s(b'abc'*100, key=b'zz').hexdigest())
print(hmac.new(b'k', b'm', 'sha256').hexdigest(), hmac.new(b'k', b'm', hashlib.md5).hexdigest(), hmac.digest(b'k', b'm', 'sha1'), hashlib.pbkdf2_hmac('sha256', b'p', b's', 10).hex(), hmac.new(b'k',b'',"sha1").name)
for e in ["hashlib.new('foo')","hashlib.md5('a')","hashlib.md5(1)","hashlib.sha1(b'').digest(1)","hashlib.blake2b(digest_size=65)","hashlib.blake2b(key=b'x'*65)", "hmac.new(b'k',b'')", "hmac.new('k',b'','sha1')","hashlib.shake_128(b'').hexdigest()"]:
    try: print(eval(e))
    except Exception as x: print(e, type(x).__name__, x)
for d in [b'', b'a', b'ab', b'abc', bytes(range(40)), 'é=_ .\n.x  \t\r\nab '.encode()*9]:
    print(binascii.b2a_base64(d), binascii.hexlify(d, '-', 2), binascii.b2a_uu(d[:45]), binascii.a2b_uu(binascii.b2a_uu(d[:45])), binascii.b2a_qp(d), binascii.b2a_qp(d, True, False, True), binascii.a2b_qp(binascii.b2a_qp(d)), binascii.crc32(d), binascii.crc_hqx(d, 7))
for e in ["binascii.a2b_base64('YQ=')","binascii.a2b_base64('YQ')","binascii.a2b_base64('Y')","binascii.a2b_base64('YWJj*ZGVm\\n')","binascii.a2b_base64('=',strict_mode=True)","binascii.a2b_base64('YQ==a',strict_mode=True)","binascii.unhexlify('abc')","binascii.unhexlify('xx')","binascii.a2b_hex(1)","binascii.hexlify('a')","binascii.a2b_base64('é')","base64.b85encode(b'hello')","base64.b32decode('MFRGG===')", "base64.a85encode(b'hello world')","base64.b64decode('YW=Jj')","binascii.a2b_base64('YWJjZ')", "binascii.crc32(b'a', -1)"]:
    try: print(e, eval(e))
    except Exception as x: print(e, type(x).__name__, x)
h=[5,3,8,1,9,2]; heapq.heapify(h); print(h, heapq.nsmallest(3,h), heapq.nlargest(2,h), heapq.heappushpop(h,0), heapq.heapreplace(h,7), h, list(heapq.merge([1,4],[2,3])), heapq.heappop(h))
print(bisect.bisect([1,2,2,3],2), bisect.bisect_left([1,2,2,3],2), bisect.bisect([3,2,1],2,key=lambda v:-v))
