//! Which parameters of functions are arrays: those that are used as arrays, or passed on to such a parameter.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{Block, Expr, GetlineSource, Program, Redirect, Stmt, StmtKind, UserFunction, VarRef};

/// Marks the parameters that are arrays, again and again until no call passes one on that is not marked.
pub(super) fn mark(program: &mut Program) {
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for index in 0..program.funcs.len() {
            let function = &program.funcs[index];
            let mut marks = Marks { parameters: function.array_params.clone(), functions: &program.funcs };
            marks.mark_in_block(&function.body);
            let parameters = marks.parameters;
            if parameters != function.array_params {
                program.funcs[index].array_params = parameters;
                has_changed = true;
            }
        }
    }
}

/// Parameters of one function that are known to be arrays.
struct Marks<'a> {
    parameters: Vec<bool>,
    functions: &'a [UserFunction],
}

impl Marks<'_> {
    fn mark_parameter(&mut self, variable: VarRef) {
        if let VarRef::Local(index) = variable
            && let Some(is_array) = self.parameters.get_mut(index as usize)
        {
            *is_array = true;
        }
    }

    /// Marks a parameter that stands where an array must.
    fn mark_array(&mut self, expression: &Expr) {
        if let Expr::Var(variable) = expression {
            self.mark_parameter(*variable);
        }
    }

    fn mark_in_block(&mut self, block: &Block) {
        for statement in block {
            self.mark_in_statement(statement);
        }
    }

    fn mark_in_statement(&mut self, statement: &Stmt) {
        if let StmtKind::ForIn(_, array, _) | StmtKind::Delete(array) = &statement.kind {
            self.mark_array(array);
        }
        match &statement.kind {
            StmtKind::Expr(expression) | StmtKind::Delete(expression) => self.mark_in(expression),
            StmtKind::Exit(value) | StmtKind::Return(value) => self.mark_in_all(value),
            StmtKind::Print(values, redirect) | StmtKind::Printf(values, redirect) => {
                self.mark_in_all(values);
                if let Some(Redirect::File(target) | Redirect::Append(target) | Redirect::Pipe(target)) = redirect {
                    self.mark_in(target);
                }
            }
            StmtKind::If(condition, yes, no) => {
                self.mark_in(condition);
                self.mark_in_block(yes);
                no.iter().for_each(|no| self.mark_in_block(no));
            }
            StmtKind::While(condition, body) | StmtKind::Do(body, condition) => {
                self.mark_in(condition);
                self.mark_in_block(body);
            }
            StmtKind::For(start, condition, step, body) => {
                start.iter().for_each(|start| self.mark_in_statement(start));
                self.mark_in_all(condition);
                step.iter().for_each(|step| self.mark_in_statement(step));
                self.mark_in_block(body);
            }
            StmtKind::ForIn(key, array, body) => {
                self.mark_in_all([key, array]);
                self.mark_in_block(body);
            }
            StmtKind::Block(block) => self.mark_in_block(block),
            StmtKind::Switch(subject, cases) => {
                self.mark_in(subject);
                cases.iter().for_each(|(_, body)| self.mark_in_block(body));
            }
            StmtKind::Next | StmtKind::NextFile | StmtKind::Break | StmtKind::Continue => {}
        }
    }

    fn mark_in_all<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expr>) {
        for expression in expressions {
            self.mark_in(expression);
        }
    }

    /// Marks what an expression uses as an array, and what the expressions within it do.
    fn mark_in(&mut self, expression: &Expr) {
        self.mark_operands(expression);
        match expression {
            Expr::Elem(_, subscripts) => self.mark_in_all(subscripts.iter().flatten()),
            Expr::Field(operand) | Expr::Neg(operand) | Expr::Plus(operand) | Expr::Not(operand) => {
                self.mark_in(operand);
            }
            Expr::Group(operand) | Expr::IncDec(operand, ..) => self.mark_in(operand),
            Expr::Assign(left, _, right)
            | Expr::Binary(_, left, right)
            | Expr::Cmp(_, left, right)
            | Expr::Match(_, left, right)
            | Expr::And(left, right)
            | Expr::Or(left, right)
            | Expr::Concat(left, right) => self.mark_in_all([&**left, &**right]),
            Expr::Cond(condition, yes, no) => self.mark_in_all([&**condition, &**yes, &**no]),
            Expr::In(subscript, array) => {
                self.mark_in_all(subscript);
                self.mark_in(array);
            }
            Expr::Call(_, arguments) | Expr::Builtin(_, arguments) | Expr::List(arguments) => {
                self.mark_in_all(arguments);
            }
            Expr::Indirect(name, arguments) => {
                self.mark_in(name);
                self.mark_in_all(arguments);
            }
            Expr::Getline(source, target) => {
                if let GetlineSource::File(name) | GetlineSource::Cmd(name) = source {
                    self.mark_in(name);
                }
                self.mark_in_all(target.as_deref());
            }
            Expr::Num(_) | Expr::Str(_) | Expr::Regex(_) | Expr::Var(_) => {}
        }
    }

    /// Marks the operands of one expression that must be arrays.
    fn mark_operands(&mut self, expression: &Expr) {
        match expression {
            Expr::Elem(variable, _) => self.mark_parameter(*variable),
            Expr::In(_, array) => self.mark_array(array),
            Expr::Builtin(function, arguments) => {
                let arrays = function.array_args().iter().filter_map(|&position| arguments.get(position));
                arrays.for_each(|array| self.mark_array(array));
            }
            Expr::Call(function, arguments) => {
                let Some(function) = self.functions.get(*function as usize) else {
                    return;
                };
                let passed = arguments.iter().zip(&function.array_params).filter(|(_, is_array)| **is_array);
                passed.for_each(|(array, _)| self.mark_array(array));
            }
            _ => {}
        }
    }
}
