from .chosen_rows import teaching_set as teaching_set
from .kept_rows import TeachingSet as TeachingSet
from .reference import Reference as Reference
from .selector import TeachingSetSelector as TeachingSetSelector
from .suspicious_rows import suspects as suspects
