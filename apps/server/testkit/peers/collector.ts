import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collect } from './receiver.ts';

/** A span as it came over the wire, with its attributes by name. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code: number };
  attributes: Record<string, unknown>;
  service: unknown;
}

export interface Collector {
  url: string;
  spans: CollectedSpan[];
  headers: IncomingHttpHeaders[];
  close(): Promise<void>;
}

type WireAttributes = { key: string; value: Record<string, unknown> }[];
type WireSpan = Omit<CollectedSpan, 'attributes' | 'service'> & { attributes: WireAttributes };
interface WireTraces {
  resourceSpans: { resource: { attributes: WireAttributes }; scopeSpans: { spans: WireSpan[] }[] }[];
}

const byName = (attributes: WireAttributes): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** Takes OTLP over HTTP in its JSON form, as a collector does. */
export async function startCollector(): Promise<Collector> {
  const [spans, headers]: [CollectedSpan[], IncomingHttpHeaders[]] = [[], []];
  const server = createServer(async (request, response) => {
    const body = await collect(request);
    if (request.url !== '/v1/traces' || request.method !== 'POST') return void response.writeHead(404).end();
    headers.push(request.headers);
    const { resourceSpans } = JSON.parse(body.toString()) as WireTraces;
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = byName(resource.attributes)['service.name'];
      for (const span of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({ ...span, attributes: byName(span.attributes), service });
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
