/** An environment has two hooks: asked before a message is stored, and before a file can be fetched. */
export const hookKinds = {
  send: {
    routes: {
      set: 'setProjectModerationHook',
      rotate: 'rotateProjectModerationHook',
      remove: 'removeProjectModerationHook',
    },
    title: 'moderation.hook',
    none: 'moderation.noHook',
    what: 'moderation.whatHook',
    setFor: 'moderation.setHookFor',
    variable: 'SVC_HOOK_SECRET',
    timeout: { default: 1_000, max: 1_500, hint: 'moderation.timeoutHint', wrong: 'moderation.enterTimeout' },
    failure: { default: 'open', open: 'moderation.failOpen', closed: 'moderation.failClosed' },
    removed: 'moderation.removeHookExplained',
    set: 'moderation.setHook',
    change: 'moderation.change',
  },
  scan: {
    routes: { set: 'setProjectScanHook', rotate: 'rotateProjectScanHook', remove: 'removeProjectScanHook' },
    title: 'moderation.scan',
    none: 'moderation.noScan',
    what: 'moderation.whatScan',
    setFor: 'moderation.setScanFor',
    variable: 'SVC_SCAN_SECRET',
    timeout: { default: 5_000, max: 10_000, hint: 'moderation.scanTimeoutHint', wrong: 'moderation.enterScanTimeout' },
    failure: { default: 'closed', open: 'moderation.scanFailOpen', closed: 'moderation.scanFailClosed' },
    removed: 'moderation.removeScanExplained',
    set: 'moderation.setScan',
    change: 'moderation.changeScan',
  },
} as const;

export type HookKind = keyof typeof hookKinds;
