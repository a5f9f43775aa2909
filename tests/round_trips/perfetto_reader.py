"""Reads a Perfetto trace with the message definitions that Perfetto publishes, as its trace processor would: packets are
ordered by time, and in the order of the file where times are equal; slices of a track open and close like brackets."""
from collections import defaultdict
from dataclasses import dataclass, field

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

INTERNED = {"event_names": "name", "event_categories": "name", "debug_annotation_names": "name",
            "debug_annotation_string_values": "str"}


@dataclass
class Slice:
    track: int
    name: str
    category: str
    start: int
    end: int = None
    parent: "Slice" = None
    arguments: dict = field(default_factory=dict)
    flows: list = field(default_factory=list)
    ending_flows: list = field(default_factory=list)


class PerfettoTrace:
    def __init__(self, data):
        self.tracks, self.slices, self.instants = {}, [], []
        self.counters = defaultdict(list)  # by track: (time, value)
        self.clocks = {}
        self._interned = {table: {} for table in INTERNED}
        trace = pb.Trace()
        trace.ParseFromString(data)
        trace.DiscardUnknownFields()
        assert trace.ByteSize() == len(data), "fields that the definitions do not know"
        timed = []
        for number, packet in enumerate(trace.packet):
            self._check(packet, number)
            self._learn(packet)
            if packet.HasField("track_descriptor"):
                assert packet.track_descriptor.uuid not in self.tracks
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.HasField("clock_snapshot"):
                self.clocks = {clock.clock_id: clock.timestamp for clock in packet.clock_snapshot.clocks}
            if packet.HasField("track_event"):
                timed.append((packet.timestamp, number, self._resolved(packet.track_event)))
        self._replay(sorted(timed, key=lambda entry: entry[:2]))

    def name_of(self, uuid):
        track = self.tracks[uuid]
        return track.thread.thread_name or track.process.process_name or track.name

    def path_of(self, uuid):
        """Names from the outermost track to this one."""
        track = self.tracks[uuid]
        return (self.path_of(track.parent_uuid) if track.parent_uuid else ()) + (self.name_of(uuid),)

    def main_track_of(self, uuid):
        """The track itself, or the one that it holds the overlapping events of."""
        track = self.tracks[uuid]
        return track.parent_uuid if track.name.startswith("overlapping ") else uuid

    def _check(self, packet, number):
        assert packet.trusted_packet_sequence_id == 1
        if number == 0:
            assert packet.sequence_flags == pb.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        if packet.HasField("track_event"):
            assert packet.sequence_flags == pb.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
            assert packet.track_event.track_uuid in self.tracks, "an event before its track's descriptor"

    def _learn(self, packet):
        for table, text in INTERNED.items():
            for entry in getattr(packet.interned_data, table):
                assert entry.iid != 0 and entry.iid not in self._interned[table], "defined twice"
                value = getattr(entry, text)
                self._interned[table][entry.iid] = value.decode() if isinstance(value, bytes) else value

    def _resolved(self, event):
        """The event with its interned strings, which must have been defined before it."""
        arguments = {}
        for annotation in event.debug_annotations:
            name = self._interned["debug_annotation_names"][annotation.name_iid]
            value_field = annotation.WhichOneof("value")
            value = getattr(annotation, value_field)
            if value_field == "string_value_iid":
                value = self._interned["debug_annotation_string_values"][value]
            arguments[name] = value
        name = self._interned["event_names"][event.name_iid] if event.name_iid else event.name
        categories = [self._interned["event_categories"][iid] for iid in event.category_iids]
        return event, name, ",".join(categories), arguments

    def _replay(self, timed):
        open_slices = defaultdict(list)
        for time, _, (event, name, category, arguments) in timed:
            stack = open_slices[event.track_uuid]
            if event.type == pb.TrackEvent.TYPE_COUNTER:
                self.counters[event.track_uuid].append((time, event.double_counter_value))
            elif event.type == pb.TrackEvent.TYPE_SLICE_END:
                assert stack, "an end without a begin"
                stack.pop().end = time
            else:
                entry = Slice(event.track_uuid, name, category, time, None, stack[-1] if stack else None, arguments,
                              list(event.flow_ids), list(event.terminating_flow_ids))
                if event.type == pb.TrackEvent.TYPE_INSTANT:
                    self.instants.append(entry)
                else:
                    assert event.type == pb.TrackEvent.TYPE_SLICE_BEGIN
                    self.slices.append(entry)
                    stack.append(entry)
        assert not any(open_slices.values()), "a slice that never ends"
