"""The methods of a service as callables, from its descriptor."""

from __future__ import annotations

from typing import Any

from google.protobuf import symbol_database


class Service:
    """One attribute for each method: `service.GetDataset(request, metadata=...)`; a method with a stream of responses returns its call.

    Streams of requests, which only owners send, are left out.
    """

    def __init__(self, channel: Any, module: Any, name: str) -> None:
        """`module`: the generated module that declares the service `name`."""
        described = module.DESCRIPTOR.services_by_name[name]
        message_of = symbol_database.Default().GetSymbol
        for method in described.methods:
            if method.client_streaming:
                continue
            make = channel.unary_stream if method.server_streaming else channel.unary_unary
            call = make(
                f"/{described.full_name}/{method.name}",
                request_serializer=message_of(method.input_type.full_name).SerializeToString,
                response_deserializer=message_of(method.output_type.full_name).FromString,
            )
            setattr(self, method.name, call)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the service has no method {name}")
