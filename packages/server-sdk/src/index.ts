export * from './call.ts';
export * from './webhook-handler.ts';
export * from './webhooks.ts';
