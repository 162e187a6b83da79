//! Statements.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{Block, CaseLabel, Expr, Redirect, Stmt, StmtKind};
use super::super::value::Value;
use super::{BoxedFuture, Evaluation, Flow, Interpreter, Unwind};

/// Future of a statement.
type StatementFuture<'a> = BoxedFuture<'a, Evaluation<Flow>>;

impl Interpreter {
    /// Runs statements until one leaves the block.
    pub(super) async fn run_block(&mut self, block: &[Stmt]) -> Evaluation<Flow> {
        for statement in block {
            self.descend(1)?;
            let flow = self.run_statement(statement).await;
            self.evaluation_depth -= 1;
            match flow? {
                Flow::Normal => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Normal)
    }

    /// Returns the future of a statement, which has one of its own for each kind, as expressions have.
    fn run_statement<'a>(&'a mut self, statement: &'a Stmt) -> StatementFuture<'a> {
        self.location_index = Some(statement.loc);
        if let Err(unwind) = self.charge_work().and_then(|()| self.check_memory()) {
            return Box::pin(std::future::ready(Err(unwind)));
        }
        match &statement.kind {
            StmtKind::Expr(expression) => Box::pin(async move { self.eval(expression).await.map(|_| Flow::Normal) }),
            StmtKind::Print(values, target) => Box::pin(self.print(values, target.as_ref())),
            StmtKind::Printf(values, target) => Box::pin(self.print_formatted(values, target.as_ref())),
            StmtKind::If(condition, yes, no) => Box::pin(self.run_if(condition, yes, no.as_ref())),
            StmtKind::While(condition, body) => Box::pin(self.run_while(condition, body)),
            StmtKind::Do(body, condition) => Box::pin(self.run_do(body, condition)),
            StmtKind::For(start, condition, step, body) => {
                Box::pin(self.run_for(start.as_deref(), condition.as_ref(), step.as_deref(), body))
            }
            StmtKind::ForIn(key, array, body) => Box::pin(self.run_for_in(key, array, body)),
            StmtKind::Block(block) => Box::pin(self.run_block(block)),
            StmtKind::Next => Box::pin(std::future::ready(Err(Unwind::Next))),
            StmtKind::NextFile => Box::pin(std::future::ready(Err(Unwind::NextFile))),
            StmtKind::Exit(status) => Box::pin(self.exit(status.as_ref())),
            StmtKind::Return(value) => Box::pin(self.return_value(value.as_ref())),
            StmtKind::Break => Box::pin(std::future::ready(Ok(Flow::Break))),
            StmtKind::Continue => Box::pin(std::future::ready(Ok(Flow::Continue))),
            StmtKind::Delete(target) => Box::pin(self.delete(target)),
            StmtKind::Switch(subject, cases) => Box::pin(self.run_switch(subject, cases)),
        }
    }

    /// Writes the record to standard output, as `print` without arguments and a rule without action do.
    pub(super) async fn print_record(&mut self, target: Option<&Redirect>) -> Evaluation<()> {
        self.rebuild_record()?;
        let mut line = String::with_capacity(self.record.text.len() + self.settings.ors.len());
        line.push_str(&self.record.text);
        line.push_str(&self.settings.ors);
        Box::pin(self.write_output(target, line)).await
    }

    async fn print(&mut self, values: &[Expr], target: Option<&Redirect>) -> Evaluation<Flow> {
        if values.is_empty() {
            self.print_record(target).await?;
            return Ok(Flow::Normal);
        }
        let mut line = String::new();
        for (index, expression) in values.iter().enumerate() {
            if index > 0 {
                line.push_str(&self.settings.ofs);
            }
            let value = self.eval(expression).await?;
            let text = self.output_text_of(&value);
            self.string_fits(line.len() + text.len())?;
            line.push_str(&text);
        }
        line.push_str(&self.settings.ors);
        Box::pin(self.write_output(target, line)).await?;
        Ok(Flow::Normal)
    }

    async fn print_formatted(&mut self, values: &[Expr], target: Option<&Redirect>) -> Evaluation<Flow> {
        let values = self.eval_all(values).await?;
        let text = self.format(&values)?;
        Box::pin(self.write_output(target, text)).await?;
        Ok(Flow::Normal)
    }

    async fn run_if(&mut self, condition: &Expr, yes: &Block, no: Option<&Block>) -> Evaluation<Flow> {
        if self.condition(condition).await? {
            return self.run_block(yes).await;
        }
        match no {
            Some(no) => self.run_block(no).await,
            None => Ok(Flow::Normal),
        }
    }

    async fn run_while(&mut self, condition: &Expr, body: &Block) -> Evaluation<Flow> {
        let mut iteration = 0;
        while self.condition(condition).await? {
            iteration += 1;
            self.count_iteration(iteration)?;
            if let Some(flow) = flow_behind_loop(self.run_block(body).await?) {
                return Ok(flow);
            }
        }
        Ok(Flow::Normal)
    }

    async fn run_do(&mut self, body: &Block, condition: &Expr) -> Evaluation<Flow> {
        let mut iteration = 0;
        loop {
            iteration += 1;
            self.count_iteration(iteration)?;
            if let Some(flow) = flow_behind_loop(self.run_block(body).await?) {
                return Ok(flow);
            }
            if !self.condition(condition).await? {
                return Ok(Flow::Normal);
            }
        }
    }

    async fn run_for(
        &mut self,
        start: Option<&Stmt>,
        condition: Option<&Expr>,
        step: Option<&Stmt>,
        body: &Block,
    ) -> Evaluation<Flow> {
        if let Some(start) = start {
            self.run_statement(start).await?;
        }
        let mut iteration = 0;
        loop {
            if let Some(condition) = condition
                && !self.condition(condition).await?
            {
                return Ok(Flow::Normal);
            }
            iteration += 1;
            self.count_iteration(iteration)?;
            if let Some(flow) = flow_behind_loop(self.run_block(body).await?) {
                return Ok(flow);
            }
            if let Some(step) = step {
                self.run_statement(step).await?;
            }
        }
    }

    /// Runs a loop over the keys that an array had when the loop began, without those that are gone by then.
    async fn run_for_in(&mut self, key_target: &Expr, array: &Expr, body: &Block) -> Evaluation<Flow> {
        let array = self.array_of_expression(array).await?;
        let mut iteration = 0;
        for key in self.keys_in_order(array).await? {
            if self.element(array, &key).is_none() {
                continue;
            }
            iteration += 1;
            self.count_iteration(iteration)?;
            self.assign(key_target, Value::from_input(key)).await?;
            if let Some(flow) = flow_behind_loop(self.run_block(body).await?) {
                return Ok(flow);
            }
        }
        Ok(Flow::Normal)
    }

    /// Ends the program; the status is kept from before if none is given.
    async fn exit(&mut self, status: Option<&Expr>) -> Evaluation<Flow> {
        if let Some(status) = status {
            let number = self.eval(status).await?.to_num();
            self.ending.exit_code = if number.is_finite() { (number as i64 & 0xff) as i32 } else { 0 };
        }
        Err(Unwind::Exit)
    }

    async fn return_value(&mut self, value: Option<&Expr>) -> Evaluation<Flow> {
        match value {
            Some(value) => Ok(Flow::Return(self.eval(value).await?)),
            None => Ok(Flow::Return(Value::Uninit)),
        }
    }

    async fn delete(&mut self, target: &Expr) -> Evaluation<Flow> {
        match target {
            Expr::Var(variable) => {
                let array = self.array_of_variable(*variable)?;
                self.clear_array(array);
            }
            Expr::Elem(variable, subscripts) => {
                let array = self.array_of_variable(*variable)?;
                if let Some((array, key)) = self.find_element(array, subscripts).await? {
                    self.delete_element(array, &key);
                }
            }
            _ => {}
        }
        Ok(Flow::Normal)
    }

    /// Runs a `switch` statement, from the case that matches, or from `default`, on to a `break`.
    async fn run_switch(&mut self, subject: &Expr, cases: &[(CaseLabel, Block)]) -> Evaluation<Flow> {
        let subject = self.eval(subject).await?;
        let mut start = cases.iter().position(|(label, _)| matches!(label, CaseLabel::Default));
        for (index, (label, _)) in cases.iter().enumerate() {
            if self.case_matches(label, &subject).await? {
                start = Some(index);
                break;
            }
        }
        for (_, body) in &cases[start.unwrap_or(cases.len())..] {
            match self.run_block(body).await? {
                Flow::Normal => {}
                Flow::Break => break,
                other => return Ok(other),
            }
        }
        Ok(Flow::Normal)
    }

    async fn case_matches(&mut self, label: &CaseLabel, subject: &Value) -> Evaluation<bool> {
        Ok(match label {
            CaseLabel::Default => false,
            CaseLabel::Regex(id) => self.literal_regex(*id).is_match(&self.text_of(subject)),
            CaseLabel::Value(value) => match self.eval(value).await? {
                Value::Num(number) if subject.is_numeric() => subject.to_num() == number,
                value => self.text_of(subject) == self.text_of(&value),
            },
        })
    }
}

/// Returns how a loop ends whose body ended that way, if the loop ends.
fn flow_behind_loop(flow: Flow) -> Option<Flow> {
    match flow {
        Flow::Break => Some(Flow::Normal),
        Flow::Return(value) => Some(Flow::Return(value)),
        Flow::Normal | Flow::Continue => None,
    }
}
