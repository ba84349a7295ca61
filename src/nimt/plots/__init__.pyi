from .curves import Curve as Curve
from .curves import compare_curves as compare_curves
from .curves import compare_table as compare_table
from .curves import curve as curve
from .curves import curve_table as curve_table
from .panels import Panel as Panel
from .panels import panel_table as panel_table
from .panels import panels as panels
