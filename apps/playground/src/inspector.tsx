import type { Room, RoomEvents } from '@parley/client';
import { useEffect, useState } from 'react';
import { note, useLog } from './log.ts';
import { dropSockets, goOffline } from './wire.ts';

const events: readonly (keyof RoomEvents)[] = [
  'connectionStateChanged',
  'participantJoined',
  'participantLeft',
  'trackPublished',
  'trackUnpublished',
  'trackSubscribed',
  'trackUnsubscribed',
  'trackMuted',
  'trackUnmuted',
  'trackStreamStateChanged',
  'activeSpeakersChanged',
  'qualityChanged',
  'dataReceived',
  'tokenExpiring',
  'audioBlocked',
  'error',
];

interface InspectorProps {
  room: Room;
  /** The example that does what this page does. */
  code: string;
  /** From now on tokens live 30 s. */
  onShortToken?: () => void;
}

/** As a drawer below a page. */
export function Inspector(props: InspectorProps) {
  return (
    <details className="inspector">
      <summary>Inspector</summary>
      <Inspection {...props} />
    </details>
  );
}

/** What the SDK does while one watches, and buttons to break things. */
export function Inspection({ room, code, onShortToken }: InspectorProps) {
  useNotedEvents(room);
  const [copied, setCopied] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(code);
      setCopied('Copied.');
    } catch {
      setCopied('The browser does not allow copying: select the text below.');
    }
  };
  return (
    <div className="inspection stack-small">
      <p className="small">
        Connection <code>{room.connectionId}</code>: the dashboard has its timeline.
      </p>
      <div className="row">
        <button type="button" className="button" onClick={dropSockets}>
          Drop the sockets
        </button>
        <button type="button" className="button" onClick={() => goOffline(10_000)}>
          Go offline for 10 s
        </button>
        {onShortToken && (
          <button
            type="button"
            className="button"
            onClick={() => {
              onShortToken();
              dropSockets();
            }}
          >
            Use 30 s tokens
          </button>
        )}
        <button type="button" className="button button-primary" onClick={() => void copy()}>
          Copy this page as code
        </button>
        <span role="status">{copied}</span>
      </div>
      <h3>Tracks</h3>
      <TrackStats room={room} />
      <h3>Events and frames</h3>
      <Log />
      <details>
        <summary>Code</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls. */}
        <pre tabIndex={0}>{code}</pre>
      </details>
    </div>
  );
}

function Log() {
  const entries = useLog();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls.
    <section className="scroll" tabIndex={0} aria-label="Events and frames">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">From</th>
            <th scope="col">What</th>
            <th scope="col">Detail</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(({ at, from, what, detail }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines only ever come in front.
            <tr key={entries.length - index}>
              <td>{(at / 1000).toFixed(3)} s</td>
              <td>{from}</td>
              <td>{what}</td>
              <td>{detail}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface TrackRow {
  id: string;
  direction: 'out' | 'in';
  kind: string;
  bytes: number;
  frames: number | null;
}

function TrackStats({ room }: { room: Room }) {
  const [rows, setRows] = useState<readonly TrackRow[]>([]);
  useEffect(() => {
    const look = async (): Promise<void> => {
      const { pub, sub } = await room.getStats();
      setRows([...rowsOf(pub, 'outbound-rtp', 'out'), ...rowsOf(sub, 'inbound-rtp', 'in')]);
    };
    const timer = setInterval(() => void look(), 2_000);
    void look();
    return () => clearInterval(timer);
  }, [room]);
  if (rows.length === 0) return <p className="no-data">No data</p>;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Direction</th>
          <th scope="col">Kind</th>
          <th scope="col">Bytes</th>
          <th scope="col">Frames</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, direction, kind, bytes, frames }) => (
          <tr key={id}>
            <td>{direction}</td>
            <td>{kind}</td>
            <td>{bytes.toLocaleString()}</td>
            <td>{frames === null ? 'No data' : frames.toLocaleString()}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function rowsOf(report: RTCStatsReport | null, type: string, direction: TrackRow['direction']): TrackRow[] {
  const found = [...(report?.values() ?? [])] as Record<string, unknown>[];
  return found
    .filter((entry) => entry['type'] === type)
    .map((entry) => ({
      id: `${direction}-${entry['id']}`,
      direction,
      kind: String(entry['kind']),
      bytes: Number(entry['bytesSent'] ?? entry['bytesReceived'] ?? 0),
      frames: entry['kind'] === 'video' ? Number(entry['framesEncoded'] ?? entry['framesDecoded'] ?? 0) : null,
    }));
}

function useNotedEvents(room: Room): void {
  useEffect(() => {
    const stops = events.map((name) => room.on(name, (...args) => note('room', name, args.map(brief).join(', '))));
    return () => {
      for (const stop of stops) stop();
    };
  }, [room]);
}

/** Something of each argument that fits a line. */
function brief(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  if (Array.isArray(value)) return value.map(brief).join(' ');
  const { identity, id, code } = value as { identity?: string; id?: string; code?: string };
  return identity ?? code ?? id ?? '';
}
