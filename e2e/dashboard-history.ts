import type { SettableClock } from '../apps/server/src/core/clock.ts';
import { joinAs, type RoomsService } from '../apps/server/testkit/clients/rooms.ts';
import type { SignalClient } from '../apps/server/testkit/clients/signal-client.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';

type Participant = SignalClient & { token: string };

const dayMs = 24 * 60 * 60 * 1000;
const batchMs = 20_000;
const samplesPerBatch = 4;

/** A project with a past, for pictures: days of use, and a call of five minutes that went badly in its third. */
export async function makeHistory(service: RoomsService, project: TestProject, clock: SettableClock): Promise<string> {
  const now = Date.now();
  for (let day = 9; day > 0; day--) {
    clock.set(now - day * dayMs);
    await useForADay(service, project, clock, day);
  }
  clock.set(now - 16 * batchMs);
  const roomId = await badCall(service, project, clock);
  clock.set(Date.now());
  await service.node.heartbeat();
  await setUpAlerts(project);
  const prices = { messages: '0.0004', minutes: '0.003', recordedMinutes: '0.01', storedBytes: null, sentBytes: null };
  await project.owner.api.call('setUsagePrices', { projectId: project.id, body: { currency: 'EUR', ...prices } });
  const [call] = await project.owner.api.call('listProjectCalls', { projectId: project.id, query: { roomId } });
  return call?.id ?? '';
}

async function useForADay(
  service: RoomsService,
  { api }: TestProject,
  clock: SettableClock,
  day: number,
): Promise<void> {
  await service.node.heartbeat();
  const { id } = await api.call('createConversation', { body: { name: `day-${day}` } });
  const texts = Array.from({ length: 3 + ((day * 7) % 11) }, (_, index) => `Message ${index}`);
  for (const text of texts) await api.call('sendMessage', { room: id, body: { text, senderId: 'ada' } });
  const room = await api.call('createRoom', { body: { name: `weekly-${day}` } });
  const people = [await joinAs(service, api, room, 'ada'), await joinAs(service, api, room, 'grace')];
  const batches = 3 + ((day * 5) % 7);
  for (let batch = 0; batch < batches; batch++) await pass(service, clock, people);
  await service.service.usage.storeCounts();
  await api.call('closeRoom', { id: room.id });
}

/** Twenty seconds, in which everybody is there and says what was received. */
async function pass(
  service: RoomsService,
  clock: SettableClock,
  people: readonly Participant[],
  measure: (index: number) => readonly object[] = (index) => [trackOf(people, 1 - index, 'in', calm)],
): Promise<void> {
  clock.set(clock.now() + batchMs);
  await service.node.heartbeat();
  for (const [index, person] of people.entries()) {
    person.send({ type: 'ping', t: clock.now() });
    const data = {
      everyMs: batchMs / samplesPerBatch,
      count: samplesPerBatch,
      bandwidth: fill(900),
      tracks: measure(index),
    };
    const body = { connectionId: person.connectionId, type: 'stats.sample' as const, data };
    await service.as(person.token).call('sendTelemetry', { body });
  }
}

interface Weather {
  kbps: number;
  loss: number;
  rtt: number;
  jitter: number;
  fps: number;
  height: number;
  freeze: number;
}
const calm: Weather = { kbps: 840, loss: 0, rtt: 44, jitter: 4, fps: 24, height: 720, freeze: 0 };
const storm: Weather = { kbps: 190, loss: 14, rtt: 160, jitter: 36, fps: 11, height: 180, freeze: 0 };

let wobble = 0;
/** Four values about this one: nothing that is measured stands still. */
const fill = (value: number): number[] =>
  Array.from({ length: samplesPerBatch }, () => Math.round(value * (1 + Math.sin(wobble++ * 2.4) * 0.06) * 10) / 10);

const trackOf = (people: readonly Participant[], of: number, way: 'out' | 'in', weather: Weather) => ({
  id: `tr_camera_${people[of]?.connectionId.slice(0, 8)}`,
  way,
  kind: 'video',
  kbps: fill(weather.kbps),
  loss: fill(weather.loss),
  rtt: fill(weather.rtt),
  jitter: fill(weather.jitter),
  fps: fill(weather.fps).map(Math.round),
  height: Array.from({ length: samplesPerBatch }, () => weather.height),
  freeze: way === 'in' ? [weather.freeze, 0, weather.freeze / 2, 0] : [],
});

/** The uplink of ada is lossy for a minute; grace, who receives her, sees it. Gives the room. */
async function badCall(service: RoomsService, project: TestProject, clock: SettableClock): Promise<string> {
  await service.node.heartbeat();
  const room = await project.api.call('createRoom', { body: { name: 'design-review' } });
  const ada = await joinAs(service, project.api, room, 'ada');
  clock.set(clock.now() + 4_000);
  const people = [ada, await joinAs(service, project.api, room, 'grace')];
  await Promise.all(people.map((person) => person.publish('AUDIO', 'VIDEO')));
  for (let batch = 0; batch < 15; batch++) {
    const received = { ...storm, loss: 3, freeze: batch === 7 ? 1_800 : 0 };
    const [sent, seen] = batch >= 6 && batch < 9 ? [storm, received] : [calm, calm];
    const tracks = [
      [trackOf(people, 0, 'out', sent), trackOf(people, 1, 'in', { ...calm, kbps: 800 })],
      [trackOf(people, 1, 'out', calm), trackOf(people, 0, 'in', { ...seen, kbps: seen.kbps * 0.93 })],
    ];
    await pass(service, clock, people, (index) => tracks[index] ?? []);
  }
  await project.api.call('closeRoom', { id: room.id });
  return room.id;
}

/** One of each kind, and somebody who is notified. */
async function setUpAlerts({ api, owner }: TestProject): Promise<void> {
  const emails = [owner.email];
  await api.call('createAlert', { body: { name: 'A media node is gone', kind: 'NODE_OFFLINE', emails } });
  const hooks = await api.call('createAlert', { body: { name: 'Orders are not delivered', kind: 'WEBHOOK_FAILING' } });
  const until = new Date(Date.now() + 4 * 60 * 60 * 1000).toISOString();
  await api.call('silenceAlert', { alertId: hooks.id, body: { until } });
}
