from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ApproximateEvent(_message.Message):
    __slots__ = ["delta", "epsilon"]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    delta: str
    epsilon: str
    def __init__(self, epsilon: _Optional[str] = ..., delta: _Optional[str] = ...) -> None: ...

class CertifiedEvent(_message.Message):
    __slots__ = ["delta", "schedule"]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    delta: str
    schedule: Event
    def __init__(self, schedule: _Optional[_Union[Event, _Mapping]] = ..., delta: _Optional[str] = ...) -> None: ...

class ComposedEvent(_message.Message):
    __slots__ = ["parts"]
    class Part(_message.Message):
        __slots__ = ["count", "event"]
        COUNT_FIELD_NUMBER: _ClassVar[int]
        EVENT_FIELD_NUMBER: _ClassVar[int]
        count: int
        event: Event
        def __init__(self, event: _Optional[_Union[Event, _Mapping]] = ..., count: _Optional[int] = ...) -> None: ...
    PARTS_FIELD_NUMBER: _ClassVar[int]
    parts: _containers.RepeatedCompositeFieldContainer[ComposedEvent.Part]
    def __init__(self, parts: _Optional[_Iterable[_Union[ComposedEvent.Part, _Mapping]]] = ...) -> None: ...

class DiscreteGaussianEvent(_message.Message):
    __slots__ = ["l2_sensitivity_squared", "linf_sensitivity", "sigma_squared"]
    L2_SENSITIVITY_SQUARED_FIELD_NUMBER: _ClassVar[int]
    LINF_SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    SIGMA_SQUARED_FIELD_NUMBER: _ClassVar[int]
    l2_sensitivity_squared: int
    linf_sensitivity: int
    sigma_squared: str
    def __init__(self, sigma_squared: _Optional[str] = ..., l2_sensitivity_squared: _Optional[int] = ..., linf_sensitivity: _Optional[int] = ...) -> None: ...

class DiscreteLaplaceEvent(_message.Message):
    __slots__ = ["l1_sensitivity", "linf_sensitivity", "scale"]
    L1_SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    LINF_SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    l1_sensitivity: int
    linf_sensitivity: int
    scale: str
    def __init__(self, scale: _Optional[str] = ..., l1_sensitivity: _Optional[int] = ..., linf_sensitivity: _Optional[int] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ["approximate", "certified", "composed", "discrete_gaussian", "discrete_laplace", "exponential_mechanism", "gaussian", "group", "laplace", "pure", "zcdp"]
    APPROXIMATE_FIELD_NUMBER: _ClassVar[int]
    CERTIFIED_FIELD_NUMBER: _ClassVar[int]
    COMPOSED_FIELD_NUMBER: _ClassVar[int]
    DISCRETE_GAUSSIAN_FIELD_NUMBER: _ClassVar[int]
    DISCRETE_LAPLACE_FIELD_NUMBER: _ClassVar[int]
    EXPONENTIAL_MECHANISM_FIELD_NUMBER: _ClassVar[int]
    GAUSSIAN_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    LAPLACE_FIELD_NUMBER: _ClassVar[int]
    PURE_FIELD_NUMBER: _ClassVar[int]
    ZCDP_FIELD_NUMBER: _ClassVar[int]
    approximate: ApproximateEvent
    certified: CertifiedEvent
    composed: ComposedEvent
    discrete_gaussian: DiscreteGaussianEvent
    discrete_laplace: DiscreteLaplaceEvent
    exponential_mechanism: ExponentialMechanismEvent
    gaussian: GaussianEvent
    group: GroupEvent
    laplace: LaplaceEvent
    pure: PureEvent
    zcdp: ZcdpEvent
    def __init__(self, discrete_laplace: _Optional[_Union[DiscreteLaplaceEvent, _Mapping]] = ..., discrete_gaussian: _Optional[_Union[DiscreteGaussianEvent, _Mapping]] = ..., laplace: _Optional[_Union[LaplaceEvent, _Mapping]] = ..., gaussian: _Optional[_Union[GaussianEvent, _Mapping]] = ..., exponential_mechanism: _Optional[_Union[ExponentialMechanismEvent, _Mapping]] = ..., pure: _Optional[_Union[PureEvent, _Mapping]] = ..., approximate: _Optional[_Union[ApproximateEvent, _Mapping]] = ..., zcdp: _Optional[_Union[ZcdpEvent, _Mapping]] = ..., composed: _Optional[_Union[ComposedEvent, _Mapping]] = ..., group: _Optional[_Union[GroupEvent, _Mapping]] = ..., certified: _Optional[_Union[CertifiedEvent, _Mapping]] = ...) -> None: ...

class ExponentialMechanismEvent(_message.Message):
    __slots__ = ["range"]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    range: str
    def __init__(self, range: _Optional[str] = ...) -> None: ...

class GaussianEvent(_message.Message):
    __slots__ = ["l2_sensitivity_squared", "sigma_squared"]
    L2_SENSITIVITY_SQUARED_FIELD_NUMBER: _ClassVar[int]
    SIGMA_SQUARED_FIELD_NUMBER: _ClassVar[int]
    l2_sensitivity_squared: str
    sigma_squared: str
    def __init__(self, sigma_squared: _Optional[str] = ..., l2_sensitivity_squared: _Optional[str] = ...) -> None: ...

class GroupEvent(_message.Message):
    __slots__ = ["event", "group_size"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    GROUP_SIZE_FIELD_NUMBER: _ClassVar[int]
    event: Event
    group_size: int
    def __init__(self, event: _Optional[_Union[Event, _Mapping]] = ..., group_size: _Optional[int] = ...) -> None: ...

class LaplaceEvent(_message.Message):
    __slots__ = ["l1_sensitivity", "scale"]
    L1_SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    l1_sensitivity: str
    scale: str
    def __init__(self, scale: _Optional[str] = ..., l1_sensitivity: _Optional[str] = ...) -> None: ...

class PureEvent(_message.Message):
    __slots__ = ["epsilon"]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    epsilon: str
    def __init__(self, epsilon: _Optional[str] = ...) -> None: ...

class ZcdpEvent(_message.Message):
    __slots__ = ["rho"]
    RHO_FIELD_NUMBER: _ClassVar[int]
    rho: str
    def __init__(self, rho: _Optional[str] = ...) -> None: ...
