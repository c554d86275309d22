"""Why simulated interviews can't be held; the messages are for the person who started them."""


class SimulationError(Exception):
    """Base of them."""


class NoModel(SimulationError):
    """A language model was to speak for respondents, and none is set up."""


class NoDask(SimulationError):
    """The extra that talks to a Dask scheduler is not installed, or no scheduler answers."""


class WorkerDiffers(SimulationError):
    """A worker elsewhere has other files or another version than this process: its result means something else."""


class ReportNotWritable(SimulationError):
    """The report can't be written where it is wanted; no interview was held."""
