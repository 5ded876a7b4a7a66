import { type Finding, fail } from '@parley/server-app/doctor/finding';
import { checkName, checkTcp, isPrivate } from './address.ts';
import { checkFront } from './front.ts';
import { checkMediaPaths, checkWithToken } from './media-paths.ts';
import { checkSockets } from './sockets.ts';

/** Looks at a service from where its users are, by its public door alone; with a token also as a participant. */
export async function* examineFrom(url: URL, token: string | null): AsyncGenerator<Finding> {
  const name = await checkName(url);
  yield name.finding;
  if (name.addresses.length === 0) return;
  const tcp = await checkTcp(url, name.addresses);
  yield* tcp.findings;
  if (!tcp.isOpen) return;
  const front = await checkFront(url);
  yield* front.findings;
  // A host that does not answer as the service is told nothing more, and a token least of all.
  if (!front.isOurs) return;
  yield await checkSockets(url);
  if (token !== null && isPrivate(url)) return yield* await checkWithToken(url, token);
  if (token !== null)
    yield fail('tls', 'The token is not sent: this address is not encrypted.', 'Give the https address.');
  yield* await checkMediaPaths(url);
}
