//! What is used of JavaScript's surroundings, by shape and not by class.
//!
//! A page, a worker and Node have these under the same names, and `ws` for Node has its own class of WebSocket; asking
//! for `web_sys` types would shut some of them out.

use js_sys::Function;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Anything that behaves like a WebSocket.
    #[derive(Debug)]
    pub type WebSocketLike;

    #[wasm_bindgen(method, getter, js_name = readyState)]
    pub(crate) fn ready_state(this: &WebSocketLike) -> u16;
    /// Bytes that were sent and have not left the page.
    #[wasm_bindgen(method, getter, js_name = bufferedAmount)]
    pub(crate) fn buffered_amount(this: &WebSocketLike) -> f64;
    /// What was negotiated; empty if nothing.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn extensions(this: &WebSocketLike) -> Option<String>;
    #[wasm_bindgen(method, setter, js_name = binaryType)]
    pub(crate) fn set_binary_type(this: &WebSocketLike, kind: &str);
    #[wasm_bindgen(method, setter, js_name = onmessage)]
    pub(crate) fn set_on_message(this: &WebSocketLike, handler: Option<&Function>);
    #[wasm_bindgen(method, setter, js_name = onclose)]
    pub(crate) fn set_on_close(this: &WebSocketLike, handler: Option<&Function>);
    /// `data` is a view of wasm memory: nothing is copied on the way into the call.
    #[wasm_bindgen(method, catch, js_name = send)]
    pub(crate) fn send(this: &WebSocketLike, data: &[u8]) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = send)]
    pub(crate) fn send_array(this: &WebSocketLike, data: &js_sys::Uint8Array) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    pub(crate) fn close(this: &WebSocketLike, code: u16, reason: &str) -> Result<(), JsValue>;

    pub(crate) type MessageEvent;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn data(this: &MessageEvent) -> JsValue;

    pub(crate) type CloseEvent;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn code(this: &CloseEvent) -> u16;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn reason(this: &CloseEvent) -> String;

    #[derive(Debug)]
    pub(crate) type MessageChannel;
    #[wasm_bindgen(constructor)]
    pub(crate) fn new() -> MessageChannel;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn port1(this: &MessageChannel) -> MessagePort;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn port2(this: &MessageChannel) -> MessagePort;

    #[derive(Debug)]
    pub(crate) type MessagePort;
    #[wasm_bindgen(method, setter, js_name = onmessage)]
    pub(crate) fn set_on_port_message(this: &MessagePort, handler: Option<&Function>);
    #[wasm_bindgen(method, js_name = postMessage)]
    pub(crate) fn post_message(this: &MessagePort, message: &JsValue);
    #[wasm_bindgen(method, js_name = close)]
    pub(crate) fn close_port(this: &MessagePort);

    pub(crate) type Document;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn hidden(this: &Document) -> bool;
    #[wasm_bindgen(thread_local_v2, js_name = document)]
    static DOCUMENT: Option<Document>;

    pub(crate) type Performance;
    #[wasm_bindgen(method, js_name = now)]
    fn milliseconds(this: &Performance) -> f64;
    #[wasm_bindgen(thread_local_v2, js_name = performance)]
    static PERFORMANCE: Performance;

    #[wasm_bindgen(js_name = setTimeout)]
    pub(crate) fn set_timeout(handler: &Function, milliseconds: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    pub(crate) fn clear_timeout(timer: &JsValue);
}

/// Milliseconds since the page began.
pub(crate) fn now() -> f64 {
    PERFORMANCE.with(Performance::milliseconds)
}

/// Whether the page is in the background, where timers may be a minute late. Workers never are.
pub(crate) fn is_hidden() -> bool {
    DOCUMENT.with(|document| document.as_ref().is_some_and(Document::hidden))
}
