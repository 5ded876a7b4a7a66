/** Served from our own origin: the pages' policy allows no inline style. The colours are the dashboard's. */
export const docsCss = `
@font-face { font-family: "Inter"; font-weight: 100 900; font-display: swap; src: url("/docs/inter.woff2") format("woff2"); }
@font-face { font-family: "JetBrains Mono"; font-weight: 100 800; font-display: swap; src: url("/docs/mono.woff2") format("woff2"); }
:root { color-scheme: light dark; --bg: light-dark(#ffffff, #111417); --surface: light-dark(#f7f8f8, #161a1e); --sunken: light-dark(#eef0f1, #0c0e10); --line: light-dark(#dfe3e6, #2a3036); --text: light-dark(#14181d, #e8ebee); --text-2: light-dark(#4a535d, #aab3bc); --accent: light-dark(#1f5fd0, #7aa9ff); --accent-soft: light-dark(#e8effc, #172642); --ok: light-dark(#14713f, #5ecb8b); --ok-soft: light-dark(#e4f4ea, #10291b); --warn: light-dark(#8a5300, #e6b04a); --warn-soft: light-dark(#fdf1dc, #2c2210); --bad: light-dark(#b3261e, #ff8a80); --bad-soft: light-dark(#fdecea, #351613); --violet: light-dark(#8b3fb0, #c792ea); }
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: 72px; }
body { margin: 0 auto; max-width: 1100px; padding: 24px 16px 64px; font: 14px/22px "Inter", system-ui, sans-serif; background: var(--bg); color: var(--text); }
body.docs { max-width: none; padding: 0; font-size: 15px; line-height: 24px; }
a { color: var(--accent); text-underline-offset: 2px; } h1 { font-size: 22px; line-height: 30px; font-weight: 620; } h2 { font-size: 17px; line-height: 26px; font-weight: 620; margin: 36px 0 8px; } h3 { font-size: 13px; font-weight: 550; color: var(--text-2); margin: 20px 0 6px; } h4 { font-size: 14px; margin: 16px 0 4px; }
strong { font-weight: 550; }
.docs h1 { font-size: 28px; line-height: 36px; margin: 0 0 12px; }
.lead { font-size: 17px; line-height: 28px; color: var(--text-2); margin: 0 0 24px; } .note { color: var(--text-2); }
code, pre { font-family: "JetBrains Mono", ui-monospace, monospace; font-size: 13px; font-variant-ligatures: none; }
:not(pre) > code { padding: 1px 5px; border-radius: 4px; background: var(--sunken); overflow-wrap: anywhere; }
pre { margin: 12px 0; padding: 14px 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); overflow: auto; line-height: 20px; }
pre .keyword { color: var(--violet); } pre .string { color: var(--ok); } pre .number { color: var(--warn); } pre .comment { color: var(--text-2); font-style: italic; }
blockquote { margin: 16px 0; padding: 4px 16px; border-left: 3px solid var(--accent); background: var(--surface); border-radius: 4px; }
hr { border: 0; border-top: 1px solid var(--line); margin: 32px 0; } li { margin: 4px 0; }
.table { overflow-x: auto; margin: 12px 0; border: 1px solid var(--line); border-radius: 8px; } table { width: 100%; border-collapse: collapse; font-size: 14px; line-height: 20px; }
td, th { text-align: left; vertical-align: top; padding: 8px 12px; border-bottom: 1px solid var(--line); } th { font-size: 12px; font-weight: 550; color: var(--text-2); background: var(--surface); } tr:last-child td { border-bottom: 0; } tr:target td { background: var(--accent-soft); }
details { border: 1px solid var(--line); border-radius: 6px; margin: 8px 0; background: var(--surface); } summary { padding: 8px 12px; cursor: pointer; overflow-wrap: anywhere; } summary span { color: var(--text-2); } details > :not(summary) { margin: 0; border-width: 1px 0 0; border-radius: 0; } details > p { padding: 8px 12px; border-top: 1px solid var(--line); } details pre { margin: 0; border: 0; border-top: 1px solid var(--line); border-radius: 0 0 6px 6px; background: none; white-space: pre-wrap; overflow-wrap: anywhere; } .route details { background: none; } summary { font-weight: 550; } summary span { font-weight: 400; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; } main:focus { outline: none; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 8px; top: 8px; z-index: 2; padding: 6px 12px; background: var(--bg); }
.bar { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; justify-content: space-between; gap: 16px; height: 48px; padding: 0 24px; border-bottom: 1px solid var(--line); background: var(--bg); }
.brand { color: var(--text); font-weight: 620; text-decoration: none; } .brand span { color: var(--text-2); font-weight: 400; }
.frame { display: grid; grid-template-columns: 232px minmax(0, 1fr); }
.frame > nav { position: sticky; top: 48px; height: calc(100dvh - 48px); overflow-y: auto; padding: 16px 12px 32px; border-right: 1px solid var(--line); background: var(--surface); font-size: 14px; line-height: 20px; }
.frame > nav h2 { margin: 16px 0 4px; padding: 0 8px; font-size: 12px; line-height: 16px; font-weight: 550; color: var(--text-2); } .frame > nav ul { margin: 0; padding: 0; list-style: none; } .frame > nav li { margin: 0; }
.frame > nav a { display: block; padding: 5px 8px; border-radius: 6px; color: var(--text-2); text-decoration: none; } .frame > nav a:hover { background: var(--sunken); color: var(--text); } .frame > nav a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 550; }
.frame > main { max-width: 860px; padding: 32px 40px 96px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(240px, 100%), 1fr)); gap: 12px; padding: 0; list-style: none; } .cards li { margin: 0; }
.cards a { display: flex; flex-direction: column; gap: 4px; height: 100%; padding: 14px 16px; border: 1px solid var(--line); border-radius: 8px; color: var(--text); text-decoration: none; } .cards a:hover { border-color: var(--accent); } .cards span { color: var(--text-2); font-size: 13px; line-height: 20px; }
.routes { padding: 0; list-style: none; } .routes li { padding: 6px 0; margin: 0; border-bottom: 1px solid var(--line); } .routes a { text-decoration: none; color: var(--text); } .routes a:hover code { color: var(--accent); } .routes .note { display: block; font-size: 13px; line-height: 20px; }
.method { font-weight: 550; } .method.get { color: var(--ok); background: var(--ok-soft); } .method.post, .method.put, .method.patch { color: var(--accent); background: var(--accent-soft); } .method.delete { color: var(--bad); background: var(--bad-soft); }
.route { padding-bottom: 24px; border-bottom: 1px solid var(--line); } .route h2 { font-weight: 400; overflow-wrap: anywhere; } .route h2:target { background: var(--accent-soft); border-radius: 6px; }
dl { margin: 12px 0; } dl > div { display: grid; grid-template-columns: 140px minmax(0, 1fr); gap: 8px; padding: 2px 0; } dt { color: var(--text-2); } dd { margin: 0; overflow-wrap: anywhere; } .codes { display: flex; flex-wrap: wrap; gap: 6px; } .codes a { text-decoration: none; } .codes code { display: inline-block; padding: 3px 6px; font-size: 12px; }
@media (max-width: 860px) { .bar { padding: 0 16px; } .frame { display: block; } .frame > nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); } .frame > nav ul { display: flex; flex-wrap: wrap; gap: 0 4px; } .frame > main { padding: 24px 16px 64px; } dl > div { grid-template-columns: 1fr; gap: 0; } }
`;
