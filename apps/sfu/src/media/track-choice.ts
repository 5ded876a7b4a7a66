import type { MediaTrackChoice } from '@parley/contract/media-control';
import type { Participant } from './participant.ts';
import type { Publication } from './publication.ts';

/** The tracks that a choice names, with who publishes them, and the names that match nothing. */
export function resolveChoice(
  participants: Iterable<Participant>,
  subscriber: Participant,
  { trackIds = [], identities = [] }: MediaTrackChoice,
) {
  const found: { publication: Publication; owner: Participant }[] = [];
  const missing: string[] = [];
  const others = [...participants].filter((other) => other !== subscriber);
  for (const trackId of trackIds) {
    const owner = others.find(({ publisher }) => publisher.publications.has(trackId));
    const publication = owner?.publisher.publications.get(trackId);
    if (owner && publication) found.push({ publication, owner });
    else missing.push(trackId);
  }
  for (const identity of identities) {
    const owner = others.find((other) => other.identity === identity);
    if (!owner) missing.push(identity);
    else for (const publication of owner.publisher.publications.values()) found.push({ publication, owner });
  }
  return { found, missing };
}
