import type { MediaTrackChoice } from '@parley/contract/media-control';
import type { TrackOwner } from './other-legs.ts';
import type { Publication } from './publication.ts';

/** The tracks that a choice names, with who publishes them, and the names that match nothing. */
export function resolveChoice(
  owners: Iterable<TrackOwner>,
  subscriber: TrackOwner,
  { trackIds = [], identities = [] }: MediaTrackChoice,
) {
  const found: { publication: Publication; owner: TrackOwner }[] = [];
  const missing: string[] = [];
  const others = [...owners].filter((other) => other !== subscriber);
  for (const trackId of trackIds) {
    const owner = others.find(({ publications }) => publications.has(trackId));
    const publication = owner?.publications.get(trackId);
    if (owner && publication) found.push({ publication, owner });
    else missing.push(trackId);
  }
  for (const identity of identities) {
    const owner = others.find((other) => other.identity === identity);
    if (!owner) missing.push(identity);
    else for (const publication of owner.publications.values()) found.push({ publication, owner });
  }
  return { found, missing };
}
