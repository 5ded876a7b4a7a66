'use client';

export { useStore } from '@parley/client/react';
export * from './icons.tsx';
export { ParleyTexts, type Texts, useTexts } from './texts.tsx';
