/** One event of a `text/event-stream`. */
export interface StreamEvent {
  id: string;
  type: string;
  /** The event's own text, as the service sent it. */
  data: string;
}

/** The events of a stream as they arrive. Comments are passed over. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = readEvent(text.slice(0, end));
      text = text.slice(end + 2);
      if (event) yield event;
    }
  }
}

function readEvent(block: string): StreamEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ''));
  }
  const data = fields.get('data');
  return data === undefined ? null : { id: fields.get('id') ?? '', type: fields.get('event') ?? '', data };
}
