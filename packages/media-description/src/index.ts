export * from './data.ts';
export * from './delta.ts';
export * from './description.ts';
export * from './parse.ts';
export * from './sdp.ts';
