import { fail } from '@parley/contract';
import {
  DEFAULT_EXTENSIONS,
  type Description,
  type ExtensionName,
  fromSdp,
  parseDescription,
  toSdp,
} from '@parley/media-description';

/** Whole, and every line of it known to us: an answer has to have the same lines. */
export function readOffer(sdp: string): Description {
  const offer = parseDescription(orderLayers(fromSdp(sdp), sdp));
  const lines = sdp.match(/^m=/gm)?.length ?? 0;
  if (!offer?.ice || !offer.dtls || lines === 0 || lines !== offer.media.length)
    return fail('SVC_BAD_REQUEST', { message: 'The body is no SDP offer with ICE, DTLS and a mid for each line.' });
  return withoutConflicts(offer);
}

/** Lowest layer first, where `a=rid` says how large each is (RFC 8851); otherwise as they are listed. */
function orderLayers(offer: Description, sdp: string): Description {
  const sections = sectionsOf(sdp);
  for (const entry of offer.media) {
    const section = sections.get(entry.mid) ?? [];
    const sizes = new Map((entry.rids ?? []).map((rid) => [rid, sizeOf(rid, section)]));
    if (![...sizes.values()].includes(0)) entry.rids?.sort((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0));
  }
  return offer;
}

function sizeOf(rid: string, section: readonly string[]): number {
  const line = section.find((one) => one.startsWith(`a=rid:${rid} `)) ?? '';
  const limit = (name: string): number => Number(new RegExp(`[ ;]${name}=(\\d+)`).exec(line)?.[1] ?? 0);
  return limit('max-width') * limit('max-height') || limit('max-height') || limit('max-width') || limit('max-br');
}

/** An id names one extension in a bundle (RFC 8843 9.2): where an offer uses it for two (aiortc), the first counts. */
function withoutConflicts(offer: Description): Description {
  const names = new Map<number, string>();
  for (const entry of offer.media) {
    const kept = Object.entries(entry.extensions ?? DEFAULT_EXTENSIONS[entry.kind]).filter(([name, id]) => {
      if (!names.has(id)) names.set(id, name);
      return names.get(id) === name;
    });
    if (entry.kind !== 'data') entry.extensions = Object.fromEntries(kept) as Partial<Record<ExtensionName, number>>;
  }
  return offer;
}

/** Our answer, without what the offer did not name: an answer may only choose. */
export function writeAnswer(answer: Description, offerSdp: string): string {
  const offered = sectionsOf(offerSdp);
  let section = offered.get('') ?? [];
  const [head = '', ...blocks] = toSdp(answer).split(/(?=^m=)/m);
  const kept = (text: string): string =>
    text
      .split('\r\n')
      .filter((line) => isOffered(line, section))
      .join('\r\n');
  return [
    kept(head),
    ...blocks.map((block) => {
      section = offered.get(/^a=mid:(.*)\r$/m.exec(block)?.[1] ?? '') ?? [];
      return kept(block);
    }),
  ].join('');
}

const OPTIONAL: readonly string[] = ['a=rtcp-rsize', 'a=extmap-allow-mixed'];

function isOffered(line: string, section: readonly string[]): boolean {
  const feedback = /^a=rtcp-fb:\d+ (.*)$/.exec(line)?.[1];
  if (feedback === undefined) return !OPTIONAL.includes(line) || section.includes(line);
  return section.includes(line) || section.includes(`a=rtcp-fb:* ${feedback}`);
}

/** Lines of each m-section by its mid, and under the empty one those before the first. */
function sectionsOf(sdp: string): Map<string, string[]> {
  const sections = sdp.split(/^(?=m=)/m).map((text) => text.split(/\r?\n/));
  const midOf = (lines: readonly string[]) => lines.find((line) => line.startsWith('a=mid:'))?.slice('a=mid:'.length);
  return new Map(sections.map((lines) => [midOf(lines) ?? '', lines]));
}

/** The user fragment that the candidates of a trickled fragment (RFC 8840) are for; undefined where it has none. */
export const fragmentUfrag = (fragment: string): string | undefined => /^a=ice-ufrag:(\S+)/m.exec(fragment)?.[1];
