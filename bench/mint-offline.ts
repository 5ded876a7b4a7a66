import { generateKeyPairSync } from 'node:crypto';
import { mintChatToken, mintRtcToken, type SigningKey } from '@parley/server';
import type { Row } from './ratio.ts';

/** Tokens that a backend signs by itself, by one core in one second. */
const perRoundMs = 2_000;
const batch = 100;
const goal = 10_000;

const id = `sgk_${'0'.repeat(24)}`;
const keys: Readonly<Record<string, SigningKey>> = {
  HS256: `${id}.${'A'.repeat(43)}`,
  EdDSA: { id, privateKey: generateKeyPairSync('ed25519').privateKey },
  ES256: { id, privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
};

export async function rows(): Promise<Row[]> {
  return Object.entries(keys).map(([algorithm, signingKey]) => {
    const rtc = rateOf(() =>
      mintRtcToken({ signingKey, room: 'standup', identity: 'ada', permissions: { publish: true } }),
    );
    const chat = rateOf(() => mintChatToken({ signingKey, userId: 'ada' }));
    return {
      question: `Tokens minted offline with ${algorithm}, a second of one core`,
      floor: { atLeast: goal },
      ratio: Math.round(Math.min(rtc, chat)),
      detail: `RTC ${Math.round(rtc)}, chat ${Math.round(chat)}`,
      bars: { unit: 'tokens a second', sides: { RTC: Math.round(rtc), chat: Math.round(chat) } },
    };
  });
}

/** By the CPU time of this process: another one on the same core does not count. */
function rateOf(mint: () => unknown): number {
  for (let warm = 0; warm < batch; warm++) mint();
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  let minted = 0;
  while (performance.now() - began < perRoundMs) for (let one = 0; one < batch; one++, minted++) mint();
  const { user, system } = process.cpuUsage(cpu);
  return minted / ((user + system) / 1e6);
}
