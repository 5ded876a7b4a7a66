export * from './call.ts';
export {
  ConnectionError,
  type ErrorKind,
  isSvcError,
  PermissionError,
  RateLimitError,
  SvcError,
} from './errors.ts';
export { readEvents, type StreamEvent } from './event-stream.ts';
export type { List, Page } from './list.ts';
export { methodRows, type SvcMethods } from './methods.gen.ts';
export * from './mint-offline.ts';
export * from './presets.ts';
export { Svc, type SvcOptions } from './svc.ts';
export type { RequestOptions } from './transport.ts';
export type { NewFile } from './upload.ts';
export * from './webhook-handler.ts';
export * from './webhooks.ts';
