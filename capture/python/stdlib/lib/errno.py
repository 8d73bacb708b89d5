EPERM, ENOENT, EINTR, EIO, EAGAIN, ENOMEM, EACCES, EEXIST, ENOTDIR, EISDIR, EINVAL, EPIPE, ENOSPC = 1, 2, 4, 5, 11, 12, 13, 17, 20, 21, 22, 32, 28
errorcode = {v: k for k, v in list(globals().items()) if k.startswith('E')}
