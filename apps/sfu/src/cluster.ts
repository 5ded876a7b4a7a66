import { readFile } from 'node:fs/promises';
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

/** As much of a Node of Kubernetes' API as we read. */
interface KubernetesNode {
  metadata?: { annotations?: Record<string, string> };
  status?: { addresses?: { type: string; address: string }[] };
}

/** The addresses that the machine is annotated with, else the external ones that the provider gave it. */
export async function askCluster(cluster: Cluster): Promise<string[]> {
  const { metadata, status } = JSON.parse(await getNode(cluster)) as KubernetesNode;
  const annotated = metadata?.annotations?.[PUBLIC_IP_ANNOTATION]?.split(',').map((address) => address.trim());
  const external = (status?.addresses ?? []).filter(({ type }) => type === 'ExternalIP').map(({ address }) => address);
  return (annotated ?? external).filter((address) => isIP(address) !== 0);
}

async function getNode({ url, nodeName, credentials }: Cluster): Promise<string> {
  const refuse = (reason: string): never => {
    throw new ConfigError(
      `The cluster does not say which addresses ${nodeName} has: ${reason}. Let the service account get nodes, or leave out SFU_KUBERNETES_NODE.`,
    );
  };
  const [token, ca] = await Promise.all(
    ['token', 'ca.crt'].map((name) => readFile(join(credentials, name), 'utf8')),
  ).catch((error: Error) => refuse(error.message));
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const path = `${url}/api/v1/nodes/${encodeURIComponent(nodeName)}`;
  const headers = { authorization: `Bearer ${token?.trim()}`, accept: 'application/json' };
  const asked = request(path, { ca, headers, signal: AbortSignal.timeout(PATIENCE_MS) }, async (answer) => {
    const chunks = await answer.toArray().catch((error: unknown) => void reject(error));
    resolve({ status: answer.statusCode ?? 0, text: String(Buffer.concat(chunks ?? [])) });
  });
  asked.on('error', reject);
  asked.end();
  const { status, text } = await promise.catch((error: Error) => refuse(error.message));
  return status === 200 ? text : refuse(`its API answers ${status}`);
}
