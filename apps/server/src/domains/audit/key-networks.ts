import { maskedNetwork } from '../../core/addresses.ts';
import type { ApiKeyCaller } from '../../core/caller.ts';
import type { RequestInfo } from '../../core/handlers.ts';
import type { Log } from '../../core/log.ts';
import type { NewAuditEntry } from './audit-store.ts';

interface KeyNetworksDeps {
  log: Log;
  /** Writes the entry when the network is new to the key. */
  write: (entry: NewAuditEntry, use: { keyId: string; network: string; networksMax: number }) => Promise<void>;
  /** The entry of a use from this network. */
  entryOf: (caller: ApiKeyCaller, network: string, request: RequestInfo) => NewAuditEntry;
}

/** Who has a key and many addresses must not fill the log. */
const networksMax = 100;
const knownMax = 10_000;

/** Notes from which networks API keys are used. */
export function createKeyNetworks({ log, write, entryOf }: KeyNetworksDeps) {
  /** What this process has noted: by address, so that a request of a known one costs a look. */
  const known = new Set<string>();
  const pending = new Set<Promise<void>>();

  return {
    /** Returns at once: no request waits for it. */
    note(caller: ApiKeyCaller, request: RequestInfo): void {
      const use = `${caller.id} ${request.ip}`;
      if (known.has(use)) return;
      const network = maskedNetwork(request.ip);
      if (network === null) return;
      if (known.size >= knownMax) known.clear();
      known.add(use);
      const adding = write(entryOf(caller, network, request), { keyId: caller.id, network, networksMax })
        .catch((error) => {
          known.delete(use);
          log.warn({ error, publicId: caller.publicId }, 'the network of an API key was not noted');
        })
        .finally(() => pending.delete(adding));
      pending.add(adding);
    },
    async stop(): Promise<void> {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
