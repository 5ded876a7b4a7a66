import type { Config } from './config.ts';
import { DatabaseUnavailable, type Replica } from './core/db.ts';
import type { CertificateState } from './core/front.ts';
import type { Adapters } from './core/ports.ts';
import type { Fleet } from './domains/fleet/index.ts';
import type { Check } from './domains/observability/index.ts';

/** Parts that are built later than the checks that look at them. */
interface LaterParts {
  fleet: () => Pick<Fleet, 'totals'>;
  webhooks: () => { overdueMs(): Promise<number> };
  /** Null when somebody else encrypts. */
  certificateState: () => CertificateState | null;
}

/** Deliveries due for longer than this are a backlog, not a moment's work. */
const overdueMsMax = 60_000;

/** One look at each dependency, in the order that diagnostics shows them. */
export function dependencyChecks(
  { db, replica, bus, blobs, mail }: Adapters,
  { isProduction }: Config,
  { fleet, webhooks, certificateState }: LaterParts,
): Record<string, Check> {
  const certificate: Record<string, Check> =
    certificateState() === null ? {} : { certificate: async () => certificateState() ?? {} };
  return {
    database: async () => {
      const latencyMs = await db.ping();
      if (db.dialect === 'postgres') return { latencyMs };
      const message = 'Embedded: survives a crash of the process, not a power cut. Set DATABASE_URL for PostgreSQL.';
      return { latencyMs, message, status: isProduction ? 'DEGRADED' : 'OK' };
    },
    ...(replica === null ? {} : { databaseReplica: () => checkReplica(replica) }),
    cache: async () => {
      const latencyMs = await bus.ping();
      return latencyMs === null
        ? { message: 'In memory: for one process only. Set REDIS_URL for more.' }
        : { latencyMs };
    },
    storage: async () => ({ latencyMs: await blobs.ping() }),
    media: async () => {
      const { serversByStatus, servers } = await fleet().totals();
      const active = serversByStatus.ACTIVE ?? 0;
      if (active > 0) return { message: `${active} of ${servers} media nodes take rooms.` };
      return {
        status: 'DOWN',
        message: servers === 0 ? 'No media node has registered.' : 'No media node takes rooms: see the fleet page.',
      };
    },
    webhooks: async () => {
      const overdueMs = await webhooks().overdueMs();
      const message = `The oldest delivery has been due for ${Math.round(overdueMs / 1000)} s.`;
      return overdueMs > overdueMsMax ? { status: 'DEGRADED', message } : {};
    },
    email: async () => {
      const latencyMs = await mail.ping();
      return latencyMs === null
        ? {
            message: mail.canSend
              ? 'Kept in the development mailbox; set SMTP_URL to send mail.'
              : 'No mail is sent: nobody can register or reset a password. Set SMTP_URL.',
            status: isProduction ? 'DEGRADED' : 'OK',
          }
        : { latencyMs };
    },
    ...certificate,
  };
}

/** Without it everything works: that is what is said, and that the primary has more to do. */
async function checkReplica(replica: Replica): ReturnType<Check> {
  try {
    const { latencyMs, behindBytes } = await replica.look();
    if (behindBytes === 0) return { latencyMs };
    return { latencyMs, status: 'DEGRADED', message: `It is ${behindBytes} bytes of log behind. ${readsElsewhere}` };
  } catch (error) {
    const reason = error instanceof DatabaseUnavailable ? error.message : 'It cannot be read.';
    return { status: 'DEGRADED', message: `${reason} ${readsElsewhere}` };
  }
}

const readsElsewhere = 'Reads go to the primary.';
