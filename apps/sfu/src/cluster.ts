import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { ConfigError } from './config-error.ts';

/** Where a pod asks its Kubernetes for the machine it is on. */
export interface Cluster {
  url: string;
  nodeName: string;
  /** What Kubernetes mounts into a pod with a service account: `token`, renewed now and then, and `ca.crt`. */
  credentials: string;
}

/** Addresses with commas between them, where the provider knows none or others. */
export const PUBLIC_IP_ANNOTATION = 'parley/public-ip';
const PATIENCE_MS = 5000;
/** More than a cluster stores of one object. */
const ANSWER_BYTES_MAX = 2_000_000;

/** As much of a Node of Kubernetes' API as we read. */
interface KubernetesNode {
  metadata?: { annotations?: Record<string, string> };
  status?: { addresses?: { type: string; address: string }[] };
}

/** The addresses that the machine is annotated with, else the external ones that the provider gave it. */
export async function askCluster(cluster: Cluster): Promise<string[]> {
  const text = await getNode(cluster).catch(({ message }: Error) => refuse(cluster, message));
  try {
    return addressesOf(JSON.parse(text));
  } catch {
    return refuse(cluster, 'its API answers something else than a Node');
  }
}

function refuse({ nodeName }: Cluster, reason: string): never {
  throw new ConfigError(
    `The cluster does not say which addresses ${nodeName} has: ${reason}. Let the service account get nodes, or leave out SFU_KUBERNETES_NODE.`,
  );
}

function addressesOf({ metadata, status }: KubernetesNode): string[] {
  const annotated = metadata?.annotations?.[PUBLIC_IP_ANNOTATION]?.split(',').map((address) => address.trim());
  const external = (status?.addresses ?? []).filter(({ type }) => type === 'ExternalIP').map(({ address }) => address);
  return (annotated ?? external).filter((address) => isIP(address) !== 0);
}

async function getNode({ url, nodeName, credentials }: Cluster): Promise<string> {
  // Each time: the token is of minutes.
  const [token, ca] = await Promise.all(['token', 'ca.crt'].map((name) => readFile(join(credentials, name), 'utf8')));
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const path = `${url}/api/v1/nodes/${encodeURIComponent(nodeName)}`;
  const headers = { authorization: `Bearer ${token?.trim()}`, accept: 'application/json' };
  const asked = request(path, { ca, headers, signal: AbortSignal.timeout(PATIENCE_MS) }, resolve);
  asked.on('error', reject);
  asked.end();
  const answer = await promise;
  const text = await collect(answer);
  if (answer.statusCode !== 200) throw new Error(`its API answers ${answer.statusCode}`);
  return text;
}

async function collect(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) throw new Error(`its API answers more than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return String(Buffer.concat(chunks));
}
