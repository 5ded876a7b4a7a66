#!/usr/bin/env node
import { createApplication, RefusedFolder } from './application.ts';

const [folder = 'lobby', ...others] = process.argv.slice(2);
try {
  if (others.length > 0 || folder.startsWith('-')) throw new RefusedFolder('Usage: npm create parley [folder]');
  console.log(createApplication(folder, process.env));
} catch (error) {
  if (!(error instanceof RefusedFolder)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
