import { createClient } from 'redis';
import type { Cpu } from './cpu-usage.ts';

/** Microseconds of a Redis of the benchmark's own from now on, all its threads. */
export async function countRedisCpu(url: string): Promise<() => Promise<Cpu>> {
  const before = await redisCpu(url);
  return async () => {
    const after = await redisCpu(url);
    return { user: after.user - before.user, system: after.system - before.system };
  };
}

/** How often a Redis is asked to subscribe from now on, by anybody. */
export async function countSubscribes(url: string): Promise<() => Promise<number>> {
  const before = await subscribes(url);
  return async () => (await subscribes(url)) - before;
}

async function subscribes(url: string): Promise<number> {
  const text = await infoOf(url, 'commandstats');
  return [...text.matchAll(/^cmdstat_s?subscribe:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

async function infoOf(url: string, section: string): Promise<string> {
  const client = createClient({ url });
  await client.connect();
  const text = await client.info(section);
  client.destroy();
  return text;
}

async function redisCpu(url: string): Promise<Cpu> {
  const text = await infoOf(url, 'cpu');
  const micros = (name: string): number => Number(new RegExp(`^used_cpu_${name}:([\\d.]+)`, 'm').exec(text)?.[1]) * 1e6;
  return { user: micros('user'), system: micros('sys') };
}
