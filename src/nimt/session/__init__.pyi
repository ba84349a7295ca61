from .session import Progress as Progress
from .session import Session as Session
