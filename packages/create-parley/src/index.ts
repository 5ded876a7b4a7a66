export { createApplication, RefusedFolder } from './application.ts';
export { dataFolder, readDevEnv } from './dev-env.ts';
