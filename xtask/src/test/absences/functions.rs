//! Combinations that may not meet in one function or expression.

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Member, Signature};

use crate::test::source::names;

const TIMERS: &[&str] = &["sleep", "sleep_until", "interval", "interval_at"];
const FLUSHES: &[&str] = &["flush", "poll_flush"];

/// The only file that calculates with credit.
const ROOM_OF_CREDIT: &str = "core/src/flow.rs";
/// Quantities that others may read and compare.
const CREDIT: &[&str] = &["granted", "consumed", "credit", "owed"];
const CALCULATIONS: &[&str] = &["checked", "saturating", "wrapping", "overflowing"];

/// What is wrong in one file.
pub(super) fn faults(path: &str, syntax: &syn::File) -> Vec<String> {
    let mut functions = Functions { path, faults: Vec::new() };
    functions.visit_file(syntax);
    functions.faults
}

struct Functions<'a> {
    path: &'a str,
    faults: Vec<String>,
}

impl Functions<'_> {
    fn fault(&mut self, at: &impl Spanned, what: &str) {
        self.faults.push(format!("{}:{}: {what}", self.path, at.span().start().line));
    }

    fn check_timers(&mut self, signature: &Signature, body: &Block) {
        let names = names(body);
        let uses = |list: &[&str]| names.iter().any(|name| list.iter().any(|pattern| name.contains(pattern)));
        if uses(TIMERS) && uses(FLUSHES) {
            self.fault(signature, "a timer and a flush in one function: what is written leaves in the same turn");
        }
    }

    fn check_credit(&mut self, operands: [&Expr; 2], whole: &impl Spanned) {
        let in_core = self.path.starts_with("core/src/") && self.path != ROOM_OF_CREDIT;
        if in_core && operands.into_iter().any(is_credit) {
            self.fault(whole, "credit is calculated in core/src/flow.rs only");
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check_timers(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check_timers(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_expr_binary(&mut self, expression: &'ast syn::ExprBinary) {
        if !is_comparison(&expression.op) {
            self.check_credit([&expression.left, &expression.right], expression);
        }
        visit::visit_expr_binary(self, expression);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        if CALCULATIONS.iter().any(|prefix| method.starts_with(prefix)) {
            let operand = call.args.first().unwrap_or(&call.receiver);
            self.check_credit([&call.receiver, operand], call);
        }
        visit::visit_expr_method_call(self, call);
    }
}

fn is_comparison(op: &BinOp) -> bool {
    use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(op, And(_) | Or(_) | Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_))
}

/// Whether the expression is one of the quantities, perhaps behind a conversion.
fn is_credit(expression: &Expr) -> bool {
    let name = match expression {
        Expr::Cast(cast) => return is_credit(&cast.expr),
        Expr::Paren(inner) => return is_credit(&inner.expr),
        Expr::Field(field) => match &field.member {
            Member::Named(name) => name.to_string(),
            Member::Unnamed(_) => return false,
        },
        Expr::MethodCall(call) => call.method.to_string(),
        Expr::Path(path) => path.to_token_stream().to_string(),
        _ => return false,
    };
    CREDIT.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::faults;

    fn found(path: &str, body: &str) -> usize {
        let source = format!("impl A {{ fn f() {{ {body} }} }}");
        faults(path, &syn::parse_file(&source).expect("the test's source is Rust")).len()
    }

    #[test]
    fn credit_is_calculated_in_one_file() {
        let breaches = [
            "self.granted + 1",
            "a.credit() as u64 - len",
            "window.granted -= n",
            "credit.saturating_sub(n)",
            "n.checked_add(window.owed())",
        ];
        for body in breaches {
            assert_eq!(found("core/src/channel.rs", body), 1, "{body}");
            assert_eq!(found("core/src/flow.rs", body), 0, "{body}");
        }
        assert_eq!(found("core/src/channel.rs", "len.min(self.credit()); self.credit() == 0; a + b"), 0);
    }

    #[test]
    fn no_timer_in_front_of_a_flush() {
        assert_eq!(found("gateway/src/a.rs", "tokio::time::sleep(pause).await; io.flush().await"), 1);
        assert_eq!(found("gateway/src/a.rs", "tokio::time::sleep(pause).await"), 0);
    }
}
