//! JMUX in the browser.
