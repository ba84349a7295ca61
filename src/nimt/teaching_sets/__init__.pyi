from .chosen_rows import TeachingSet as TeachingSet
from .chosen_rows import teaching_set as teaching_set
from .reference import Reference as Reference
from .selector import TeachingSetSelector as TeachingSetSelector
from .suspicious_rows import suspects as suspects
