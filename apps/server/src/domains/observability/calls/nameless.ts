import { type CallDetail, classifiedCodes, DisconnectReason, errors, TrackSource } from '@parley/contract';

const trackSources: ReadonlySet<unknown> = new Set(TrackSource.enum);
/** Words of ours. Everything else in a step may be somebody's own, and name them. */
const details: ReadonlySet<unknown> = new Set([
  ...TrackSource.enum,
  ...DisconnectReason.enum,
  ...Object.keys(classifiedCodes),
  ...Object.keys(errors),
]);

export const trackSourceOf = (value: unknown): string | null => (trackSources.has(value) ? String(value) : null);

/** The call without its room, with numbers for whatever clients and operators name. Participants have theirs already. */
export function namelessOf(call: CallDetail): CallDetail {
  const connection = numbered('connection');
  const track = numbered('track');
  const trackOrNone = (id: string | null): string | null => (id === null ? null : track(id));
  return {
    ...call,
    roomId: null,
    roomName: null,
    findings: call.findings.map((finding) => ({ ...finding, trackId: trackOrNone(finding.trackId) })),
    participants: call.participants.map((one) => ({
      ...one,
      stays: one.stays.map((stay) => ({ ...stay, connectionId: connection(stay.connectionId) })),
      steps: one.steps.map((step) => ({
        ...step,
        trackId: trackOrNone(step.trackId),
        detail: details.has(step.detail) ? step.detail : null,
      })),
      tracks: one.tracks.map((own) => ({ ...own, id: track(own.id) })),
    })),
  };
}

/** The same number for the same id. */
function numbered(word: string): (id: string) => string {
  const numbers = new Map<string, string>();
  return (id) => {
    const known = numbers.get(id) ?? `${word}-${numbers.size + 1}`;
    numbers.set(id, known);
    return known;
  };
}
