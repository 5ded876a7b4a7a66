/** Loaded before a process that a test starts for seconds (`briefEnv`). */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--liftoff-only');
