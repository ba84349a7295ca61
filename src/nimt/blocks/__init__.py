"""One lesson that is cut into blocks: taught by several threads or machines, larger than memory, the same every time.

The pool is cut into blocks. Each block holds its own points and, around them, a halo as wide as the kernel reaches.
Blocks of one colour are so far apart that what one shows changes nothing that another holds, so they are taught at the
same time. A name is loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
