"""``gluon.data``: datasets and the loader of batches."""

from .datasets import ArrayDataset, Dataset, SimpleDataset
from .loading import BatchSampler, DataLoader, RandomSampler, SequentialSampler
