import { loadDemo } from "./demo.ts";
import { FetchPanel } from "./fetch/panel.ts";
import { LabPanel } from "./lab/panel.ts";
import { TerminalPanel } from "./terminal/panel.ts";
import { ConnectPanel } from "./tunnel/panel.ts";
import { byId } from "./ui/dom.ts";
import { startTabs } from "./ui/tabs.ts";
import { startTheme } from "./ui/theme.ts";

const { gateway } = new ConnectPanel();
const lab = new LabPanel(gateway);
const terminal = new TerminalPanel(gateway);
const fetching = new FetchPanel(gateway);
startTabs(byId("tabs", HTMLElement));
startTheme(byId("theme", HTMLButtonElement), () => lab.redraw());

void loadDemo().then((demo) => {
  lab.offer(demo);
  terminal.offer(demo.echo);
  fetching.offer(demo.http);
});
