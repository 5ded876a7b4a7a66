import { createPeople, type People } from '../../apps/server/testkit/kit/people.ts';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
import { startService, type TestService } from '../../apps/server/testkit/kit/service.ts';
import { oncePerWorker } from '../../apps/server/testkit/kit/worker-life.ts';
import { startTcpProxy, type TcpProxy } from '../../apps/server/testkit/peers/tcp-proxy.ts';
import { startTestNode } from '../../apps/sfu/testkit/node.ts';
import { startUdpProxy, type UdpProxy } from '../udp-proxy.ts';

/** Server and media node, with a network in front of them that fails on command. */
export interface SdkStage {
  /** Through the proxy, which knows where the server is when another has taken its place. */
  url: string;
  newProject: People['newProject'];
  /** Between browsers and the server; and between browsers and the media node. */
  tcp: TcpProxy;
  udp: UdpProxy;
  /** All UDP packets are lost, or none. */
  setLoss(loss: 0 | 1): void;
  /** The media node ends, and another takes its place. */
  replaceNode(): Promise<void>;
  /** Kills the process that carries media, as kill -9 does. */
  killMediaProcess(): void;
  /** The server ends, and another process goes on in its place. */
  replaceServer(): Promise<void>;
  /** Ends all faults. */
  heal(): void;
  stop(): Promise<void>;
}

// All pages come from one address.
const env = { SIGNALING_MAX_CONNECTIONS_PER_WINDOW: '1000' };

/** The stage of this test worker. */
export const sharedStage: () => Promise<SdkStage> = oncePerWorker(async () => {
  const first = await startService({ env });
  const tcp = await startTcpProxy(first.url);
  const url = tcp.url.replace(/\/$/, '');
  const media = await startMedia(first, url);
  const services = [first];
  const setLoss = (loss: 0 | 1): void => {
    for (const path of [media.udp.up, media.udp.down]) path.loss = loss;
  };
  return {
    url,
    newProject: createPeople(url).newProject,
    tcp,
    udp: media.udp,
    setLoss,
    replaceNode: media.replace,
    killMediaProcess: media.kill,
    async replaceServer() {
      const next = await startService({ env, beside: first });
      tcp.retarget(next.url);
      await services.at(-1)?.service.stop();
      services.push(next);
    },
    heal() {
      tcp.restore();
      setLoss(0);
    },
    async stop() {
      await media.stop();
      await tcp.close();
      for (const service of services.reverse()) await service.stop();
    },
  };
});

/** The real media node behind a UDP proxy, registered with the service. */
async function startMedia(service: TestService, url: string) {
  const [secret = ''] = service.config.sfuSecrets;
  const [udpPort, internalPort] = await Promise.all([ownPort(), ownPort()]);
  const udp = await startUdpProxy(udpPort);
  // The same addresses each time, as a node that is restarted has them.
  const variables = {
    CONTROL_URL: url,
    SFU_REGISTRATION_SECRET: secret,
    SFU_ANNOUNCED_HOST: '127.0.0.1',
    SFU_INTERNAL_PORT: String(internalPort),
    SFU_UDP_PORT: String(udpPort),
    SFU_ANNOUNCED_UDP_PORT: String(udp.port),
  };
  const start = () => startTestNode(variables, true);
  let node = await start();
  return {
    udp,
    async replace() {
      await node.stop();
      node = await start();
    },
    kill() {
      for (const pid of node.node.pids()) process.kill(pid, 'SIGKILL');
    },
    async stop() {
      udp.close();
      await node.stop();
    },
  };
}
