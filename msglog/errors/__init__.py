"""Every error that msglog raises: one root, facts as attributes, and a sentence that says what to do.

No error ever contains message text: texts, arguments and metadata values stay out of logs and traces.
Errors can be pickled, so that they cross process boundaries whole.
"""

from __future__ import annotations

from msglog.errors.extras import MissingExtraError
from msglog.errors.histories import (
    BudgetTooSmall,
    ConflictError,
    DuplicateEntryError,
    InvalidHistoryError,
    NotLoadedError,
    PatchError,
    UnknownEntryError,
    UnknownRevisionError,
)
from msglog.errors.input import (
    BatchTooLargeError,
    CodecError,
    InvalidMessageError,
    InvalidNameError,
    TooLargeError,
    join_path,
)
from msglog.errors.logs import (
    BranchExistsError,
    DivergedError,
    LogExistsError,
    PositionError,
    UnknownBranchError,
    UnknownLogError,
)
from msglog.errors.root import MsgLogError
from msglog.errors.service import (
    AccessDeniedError,
    DeadlineError,
    LimitError,
    OnlyLocalError,
    RequestError,
    StoppingError,
    UnreachableError,
)
from msglog.errors.stores import (
    CannotOpenError,
    CommitUncertainError,
    CorruptStoreError,
    ForkedError,
    NewerStoreError,
    NotAStoreError,
    OlderStoreError,
    ReadOnlyError,
    ReentrantCallError,
    SqlError,
    StoreBusyError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    StoreIOError,
    StoreNotFoundError,
    StoreReplacedError,
    TwoLibrariesError,
)
from msglog.errors.transfer import BundleError, BundleVersionError, SourceError

__all__ = [
    "AccessDeniedError",
    "BatchTooLargeError",
    "BranchExistsError",
    "BudgetTooSmall",
    "BundleError",
    "BundleVersionError",
    "CannotOpenError",
    "CodecError",
    "CommitUncertainError",
    "ConflictError",
    "CorruptStoreError",
    "DeadlineError",
    "DivergedError",
    "DuplicateEntryError",
    "ForkedError",
    "InvalidHistoryError",
    "InvalidMessageError",
    "InvalidNameError",
    "LimitError",
    "LogExistsError",
    "MissingExtraError",
    "MsgLogError",
    "NewerStoreError",
    "NotAStoreError",
    "NotLoadedError",
    "OlderStoreError",
    "OnlyLocalError",
    "PatchError",
    "PositionError",
    "ReadOnlyError",
    "ReentrantCallError",
    "RequestError",
    "SourceError",
    "SqlError",
    "StoppingError",
    "StoreBusyError",
    "StoreClosedError",
    "StoreError",
    "StoreFullError",
    "StoreIOError",
    "StoreNotFoundError",
    "StoreReplacedError",
    "TooLargeError",
    "TwoLibrariesError",
    "UnknownBranchError",
    "UnknownEntryError",
    "UnknownLogError",
    "UnknownRevisionError",
    "UnreachableError",
    "join_path",
]

for _name in __all__:  # tracebacks and pickles name the place that users import from, not the module inside
    globals()[_name].__module__ = __name__
