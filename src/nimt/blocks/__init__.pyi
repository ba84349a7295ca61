from .block_lesson import BlockLesson as BlockLesson
from .teaching_blocks import resume_blocks as resume_blocks
from .teaching_blocks import teach_blocks as teach_blocks
