export type * from '@parley/contract/types.gen';
export * from './call.ts';
export {
  ConnectionError,
  type ErrorKind,
  isSvcError,
  ParleyError,
  PermissionError,
  RateLimitError,
  SvcError,
} from './errors.ts';
export { readEvents, type StreamEvent } from './event-stream.ts';
export type { List, Page } from './list.ts';
export { methodRows, type ParleyMethods } from './methods.gen.ts';
export * from './mint-offline.ts';
export * from './presets.ts';
// Beside the record of the same name, which the dashboard's routes give.
export type { PrivateKey, SigningKey } from './signing.ts';
export { Parley, type ParleyOptions, Svc, type SvcOptions } from './svc.ts';
export type { RequestOptions } from './transport.ts';
export type { NewFile } from './upload.ts';
export * from './webhook-handler.ts';
export * from './webhooks.ts';
