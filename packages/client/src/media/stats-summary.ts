/** The figures of a report; unknown ones are left out. */
export interface Figures {
  [name: string]: number | string | undefined;
  rttMs?: number;
  packetLossPercent?: number;
  jitterMs?: number;
  mos?: number;
  transport?: 'udp' | 'tcp' | 'relay';
}

/** The fields of the browser's reports that are read here. */
interface Report {
  id: string;
  type: string;
  currentRoundTripTime?: number;
  state?: string;
  nominated?: boolean;
  localCandidateId?: string;
  candidateType?: string;
  protocol?: string;
  jitter?: number;
  packetsReceived?: number;
  packetsLost?: number;
  fractionLost?: number;
}

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

/** Makes figures of the browser's statistics. Loss is that since the last call, so each caller keeps one of these. */
export function createStatsSummary(): (stats: readonly Iterable<[string, unknown]>[]) => Figures | null {
  let before = { received: 0, lost: 0 };

  return (stats) => {
    const reports = stats.flatMap((one) => [...one].map(([, report]) => report as Report));
    const pair = reports.find(
      ({ type, state, nominated }) => type === 'candidate-pair' && state === 'succeeded' && nominated,
    );
    const inbound = reports.filter(({ type }) => type === 'inbound-rtp');
    const remote = reports.filter(({ type }) => type === 'remote-inbound-rtp');
    const now = {
      received: inbound.reduce((sum, { packetsReceived = 0 }) => sum + packetsReceived, 0),
      lost: inbound.reduce((sum, { packetsLost = 0 }) => sum + packetsLost, 0),
    };
    const received = Math.max(0, now.received - before.received);
    // A retransmission that arrives late makes the count fall.
    const lost = Math.max(0, now.lost - before.lost);
    before = now;

    const losses = [
      ...(received + lost > 0 ? [lost / (received + lost)] : []),
      ...remote.flatMap(({ fractionLost }) => (fractionLost === undefined ? [] : [fractionLost])),
    ];
    const rtt = pair?.currentRoundTripTime;
    const loss = losses.length > 0 ? Math.max(...losses) * 100 : undefined;
    const jitter = mean([...inbound, ...remote].flatMap(({ jitter: one }) => (one === undefined ? [] : [one])));
    const local = reports.find(({ type, id }) => type === 'local-candidate' && id === pair?.localCandidateId);
    const figures: Figures = {
      ...(rtt !== undefined && { rttMs: rounded(rtt * 1000, 1) }),
      ...(loss !== undefined && { packetLossPercent: rounded(loss, 2) }),
      ...(jitter !== undefined && { jitterMs: rounded(jitter * 1000, 1) }),
      ...(rtt !== undefined && loss !== undefined && { mos: mosOf(rtt * 1000, (jitter ?? 0) * 1000, loss) }),
      ...(local && { transport: local.candidateType === 'relay' ? 'relay' : local.protocol === 'tcp' ? 'tcp' : 'udp' }),
    };
    return Object.keys(figures).length > 0 ? figures : null;
  };
}

/** The usual short form of the E-model (ITU-T G.107): 1 is unusable, 4.4 as good as it gets. */
function mosOf(rttMs: number, jitterMs: number, lossPercent: number): number {
  const latency = rttMs / 2 + jitterMs * 2 + 10;
  const fromLatency = 93.2 - (latency < 160 ? latency / 40 : (latency - 120) / 10);
  const r = Math.max(0, fromLatency - 2.5 * lossPercent);
  return rounded(Math.min(4.5, Math.max(1, 1 + 0.035 * r + 0.000007 * r * (r - 60) * (100 - r))), 2);
}
